#include <algorithm>
#include <memory>

#include "crossilo/base/error.h"
#include "crossilo/index/code_sample.h"
#include "crossilo/index/costs.h"
#include "crossilo/index/index.h"
#include "crossilo/index/mih.h"
#include "crossilo/index/mih_plan.h"

namespace crossilo {
namespace {

// Slots come out of a scan in order, and the k nearest of equally near ones are
// the first; of distinct codes all have to be kept.  Worth so much.
constexpr double kClearly = 0.6, kClearlyWithin = 0.8;

class Auto final : public Index {
 public:
  Auto(std::unique_ptr<Index> flat, std::unique_ptr<Index> mih)
      : flat_(std::move(flat)), owned_(std::move(mih)) {
    mih_ = dynamic_cast<const MihIndex*>(owned_.get());
    if (owned_ && mih_ == nullptr) throw Error("the tables are of kind '{}'", owned_->kind());
  }

  std::string_view kind() const override { return "auto"; }

  MihIndex::Answers Search(std::span<const std::byte> queries,
                           const Policy& policy) const override {
    if (mih_ == nullptr) return flat_->Search(queries, policy);
    const MihTables& tables = mih_->tables();
    const auto row = static_cast<size_t>(tables.row_bytes);
    // What does not fit the table is refused there.
    if (queries.size() % row != 0 || queries.empty()) return flat_->Search(queries, policy);
    const auto count = static_cast<int64_t>(queries.size() / row);
    CheckSearch(tables.table, queries, policy);
    const SearchShape shape = mih_->Shape(count, policy);
    const double flat_ns = FlatNs(tables.size, tables.row_bytes, shape);
    const double compare_ns = CompareNs(tables.size, tables.distinct, tables.row_bytes, shape);
    MihIndex::Answers answers(count);
    const std::vector<int64_t> left =
        mih_->LookUp(queries, policy, std::min(flat_ns, compare_ns), answers);
    const bool within = policy.k >= tables.size;
    if (compare_ns < (within ? kClearlyWithin : kClearly) * flat_ns) {
      mih_->Compare(queries, left, policy, answers);
    } else if (!left.empty()) {
      Scan(queries, left, policy, answers);
    }
    return answers;
  }

 private:
  // The queries of these numbers, by the flat index.
  void Scan(std::span<const std::byte> queries, const std::vector<int64_t>& which,
            const Policy& policy, MihIndex::Answers& answers) const {
    const size_t row = queries.size() / answers.size();
    std::vector<std::byte> some;
    for (int64_t i : which) {
      const auto query = queries.subspan(static_cast<size_t>(i) * row, row);
      some.insert(some.end(), query.begin(), query.end());
    }
    MihIndex::Answers scanned = flat_->Search(some, policy);
    for (size_t i = 0; i < which.size(); ++i) answers[which[i]] = std::move(scanned[i]);
  }

  std::unique_ptr<Index> flat_, owned_;
  const MihIndex* mih_ = nullptr;
};

std::string Time(double ns) {
  return ns < 1e6 ? fmt::format("{:.3f} ms", ns / 1e6) : fmt::format("{:.1f} ms", ns / 1e6);
}

}  // namespace

std::unique_ptr<Index> MakeAutoIndex(std::unique_ptr<Index> flat, std::unique_ptr<Index> mih) {
  return std::make_unique<Auto>(std::move(flat), std::move(mih));
}

IndexChoice ChooseIndex(const Table& table) {
  if (table.real_valued()) return {.mih = false, .reason = "flat: real values have no keys"};
  const double flat_ns = FlatNs(table.size, table.row_bytes(), {});
  // Nobody notices what could be saved.
  if (flat_ns < 2e4) {
    return {.mih = false,
            .reason =
                fmt::format("flat: a scan of {} codes takes about {}", table.size, Time(flat_ns))};
  }
  const CodeStatistics codes = Look(table);
  const MihPlan plan = PlanMih(table, codes.distinct, PlannedRadius(table, codes.near));
  const double compare_ns = CompareNs(table.size, codes.distinct, table.row_bytes(), {});
  const double mih_ns = std::min(plan.lookup_ns + kLookupsNs + kQueryNs, compare_ns);
  const bool mih = mih_ns < flat_ns / 2;
  const std::string by_tables = fmt::format("about {} a query", Time(mih_ns));
  return {.mih = mih,
          .reason = fmt::format("{} against {} by flat scan; about {} of {} codes are distinct",
                                mih ? "mih: " + by_tables : "flat: " + by_tables + " by tables",
                                Time(flat_ns), codes.distinct, table.size)};
}

}  // namespace crossilo
