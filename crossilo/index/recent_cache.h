#pragma once

#include <algorithm>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>

namespace crossilo {

// The last few results of something slow, by key.  Safe to use from many
// threads; two that miss at once both compute, and get equal values.
template <typename Value>
class RecentCache {
 public:
  std::shared_ptr<const Value> Get(const std::string& key, const std::function<Value()>& compute) {
    {
      const std::lock_guard lock(mutex_);
      const auto found = std::ranges::find(entries_, key, &Entry::key);
      if (found != entries_.end()) {
        entries_.splice(entries_.begin(), entries_, found);
        return found->value;
      }
    }
    auto value = std::make_shared<const Value>(compute());
    const std::lock_guard lock(mutex_);
    entries_.push_front({key, value});
    if (entries_.size() > kKept) entries_.pop_back();
    return value;
  }

 private:
  static constexpr size_t kKept = 8;
  struct Entry {
    std::string key;
    std::shared_ptr<const Value> value;
  };

  std::mutex mutex_;
  std::list<Entry> entries_;  // last used first
};

}  // namespace crossilo
