#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

namespace crossilo {

// The program that drives a browser, running; for tests only.  It and every
// process it starts end with this object, or with this process, however that
// comes.
class Chromedriver {
 public:
  // Throws Error naming the packages to install where there is none.
  Chromedriver();
  ~Chromedriver();
  Chromedriver(const Chromedriver&) = delete;
  Chromedriver& operator=(const Chromedriver&) = delete;

  // The body of its answer to a request.  Throws Error where none comes.
  std::string Ask(const std::string& method, const std::string& path,
                  const std::string& body) const;

 private:
  void Start();
  void End();

  std::filesystem::path folder_;  // for temporary files
  pid_t keeper_ = -1;
  int life_ = -1;  // closed, it ends the keeper's process group
  int output_ = -1;
  int port_ = 0;
};

}  // namespace crossilo
