#include "crossilo/cli/query_coder.h"

#include <cstring>
#include <mutex>
#include <semaphore>
#include <unordered_map>

#include "crossilo/base/error.h"
#include "crossilo/codes/code_rows.h"
#include "crossilo/embed/decode.h"
#include "crossilo/models/encode.h"
#include "crossilo/train/threads.h"

namespace crossilo {
namespace {

// Questions are always coded as blocks of so many rows, filled up with zeros:
// a product's sums are added in the same order for every row of a block, but
// not for blocks of different height.
constexpr int64_t kBlock = 16;

std::vector<float> ToVector(const torch::Tensor& row) {
  const torch::Tensor flat = row.to(torch::kFloat).contiguous();
  return {flat.data_ptr<float>(), flat.data_ptr<float>() + flat.numel()};
}

class BundleCoder final : public QueryCoder {
 public:
  BundleCoder(const Bundle& bundle, const Folders& folders)
      : model_(MakeModel(bundle)), real_valued_(bundle.real_valued()) {
    if (bundle.text_embedding.kind != "given") {
      words_ = MakeWordEmbedder(bundle.text_embedding, folders);
    }
    if (bundle.image_embedding.kind != "given" && CanDecodePictures()) {
      pictures_ = MakePictureEmbedder(bundle.image_embedding, folders);
    }
  }

  bool knows_words() const override { return words_ != nullptr; }
  bool knows_pictures() const override { return pictures_ != nullptr; }

  CodedQuery Picture(const std::string& bytes) const override {
    if (!pictures_) {
      throw BadQuestion("this model learnt from features made elsewhere; it cannot read pictures");
    }
    const torch::Tensor features = pictures_->Embed({DecodePicture(bytes, "the picture")});
    return Code(Modality::kImage, features)[0];
  }

  // Who finds a coder free codes alone.  The others wait; whoever is done wakes
  // those it coded for and the first that waits, which takes all that came
  // meanwhile, up to a block.
  CodedQuery Words(const std::string& words) const override {
    if (!words_) {
      throw BadQuestion("this model learnt from features made elsewhere; it cannot read words");
    }
    Waiting mine;
    mine.words = words;
    std::vector<Waiting*> block;
    block.reserve(kBlock);  // now, because nothing may fail while others wait for it
    std::unique_lock lock(mutex_);
    if (const auto known = known_.find(words); known != known_.end()) return known->second;
    if (coding_ < kCoders) {
      ++coding_;
    } else {
      waiting_.push_back(&mine);
      lock.unlock();
      mine.woken.acquire();
      lock.lock();  // whoever woke it has ended with `mine` then
    }
    if (!mine.done) Lead(mine, block, lock);
    if (mine.failed) std::rethrow_exception(mine.failed);
    return std::move(mine.coded);
  }

 private:
  struct Waiting {
    std::string words;
    CodedQuery coded = {};
    std::exception_ptr failed = {};
    bool done = false;
    std::binary_semaphore woken{0};
  };
  static constexpr int kCoders = 2;  // blocks under way at the same time

  // Codes the caller's question, which does not wait any more, and the first of
  // those that do.
  void Lead(Waiting& mine, std::vector<Waiting*>& block, std::unique_lock<std::mutex>& lock) const {
    const size_t count = std::min<size_t>(waiting_.size(), kBlock - 1);
    block.push_back(&mine);
    block.insert(block.end(), waiting_.begin(), waiting_.begin() + count);
    waiting_.erase(waiting_.begin(), waiting_.begin() + count);
    lock.unlock();
    CodeBlock(block);
    lock.lock();
    for (Waiting* one : block) {
      one->done = true;
      Remember(*one);
    }
    if (waiting_.empty()) {
      --coding_;
    } else {  // the first codes in the caller's place
      waiting_.front()->woken.release();
      waiting_.erase(waiting_.begin());
    }
    for (size_t i = 1; i < block.size(); ++i) block[i]->woken.release();
  }

  // The next page, another filter and the letter that was taken back ask with
  // the same words again.
  void Remember(const Waiting& one) const noexcept {
    if (one.failed || one.words.size() > 256) return;
    if (known_.size() >= 1024) known_.clear();
    try {
      known_.emplace(one.words, one.coded);
    } catch (...) {
      // No memory: it is coded again then.
    }
  }

  // Never throws: what goes wrong goes to those who asked.
  void CodeBlock(const std::vector<Waiting*>& block) const {
    try {
      std::vector<std::string> texts;
      for (const Waiting* one : block) texts.push_back(one->words);
      const torch::Tensor features = words_->Embed(texts);
      std::vector<CodedQuery> coded = Code(Modality::kText, features);
      const torch::Tensor known = features.abs().sum(1).to(torch::kFloat).contiguous();
      for (size_t i = 0; i < block.size(); ++i) {
        block[i]->coded = std::move(coded[i]);
        if (known.data_ptr<float>()[i] > 0) continue;
        block[i]->failed = std::make_exception_ptr(
            BadQuestion("none of these words is known to this model; try others"));
      }
    } catch (...) {
      for (Waiting* one : block) one->failed = std::current_exception();
    }
  }

  std::vector<CodedQuery> Code(Modality modality, const torch::Tensor& features) const {
    // Many ask at once: one core each, and the same sums every time.
    thread_local const bool alone = (UseThreads(1), true);
    (void)alone;
    torch::NoGradGuard no_grad;
    const int64_t rows = features.size(0);
    torch::Tensor x = torch::zeros({kBlock, features.size(1)});
    x.slice(0, 0, rows).copy_(features);
    const torch::Tensor relaxed = model_->Encode(modality, x).code.contiguous();
    const std::vector<std::byte> stored = StoredRows(relaxed, real_valued_);
    const size_t width = stored.size() / kBlock;
    std::vector<CodedQuery> coded(rows);
    for (int64_t i = 0; i < rows; ++i) {
      coded[i].code.assign(stored.begin() + i * width, stored.begin() + (i + 1) * width);
      coded[i].relaxed = ToVector(relaxed[i]);
      coded[i].features = ToVector(x[i]);
    }
    return coded;
  }

  std::unique_ptr<HashModel> model_;
  bool real_valued_;
  std::unique_ptr<WordEmbedder> words_;
  std::unique_ptr<PictureEmbedder> pictures_;

  mutable std::mutex mutex_;
  mutable std::vector<Waiting*> waiting_;
  mutable std::unordered_map<std::string, CodedQuery> known_;
  mutable int coding_ = 0;  // blocks under way
};

}  // namespace

std::unique_ptr<QueryCoder> MakeQueryCoder(const Bundle& bundle, const Folders& folders) {
  return std::make_unique<BundleCoder>(bundle, folders);
}

std::vector<std::byte> StoredRows(const torch::Tensor& relaxed, bool real_valued) {
  if (!real_valued) return ToRows(Binarize(relaxed));
  const torch::Tensor flat = relaxed.to(torch::kCPU, torch::kFloat).contiguous();
  std::vector<std::byte> rows(flat.numel() * sizeof(float));
  std::memcpy(rows.data(), flat.data_ptr<float>(), rows.size());
  return rows;
}

}  // namespace crossilo
