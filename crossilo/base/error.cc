#include "crossilo/base/error.h"

#include <cerrno>
#include <system_error>

namespace crossilo {

std::string SystemMessage() { return std::generic_category().message(errno); }

}  // namespace crossilo
