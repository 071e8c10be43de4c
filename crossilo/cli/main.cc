#include <cstdio>

#include "crossilo/base/error.h"
#include "crossilo/cli/command.h"

namespace {

constexpr char kHelp[] =
    "Cross-silo learning for cross-modal search: organisations train one hashing\n"
    "model without sharing a single pair, and find pictures by words and words by\n"
    "pictures.\n";

constexpr char kFooter[] =
    "\nFrom nothing to a search:\n"
    "  crossilo data import --image i.npy --text t.npy --labels l.npy --out data/mine\n"
    "  crossilo simulate experiment.toml --set data.path=data/mine --out runs/first\n"
    "  crossilo search --bundle runs/first/bundle.safetensors --data data/mine 'smiling cat'\n";

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(kHelp, "crossilo");
  app.require_subcommand(1);
  app.set_version_flag("--version", "crossilo " CROSSILO_VERSION);
  crossilo::AddData(app);
  crossilo::AddSimulate(app);
  crossilo::AddCompare(app);
  crossilo::AddEncode(app);
  crossilo::AddEvaluate(app);
  crossilo::AddIndex(app);
  crossilo::AddSearch(app);
  crossilo::AddServe(app);
  crossilo::AddMethods(app);
  crossilo::AddModels(app);
  app.footer(kFooter);  // after them, or each would have it as its own
  try {
    app.parse(argc, argv);
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
      throw crossilo::Error("the output could not be written: {}", crossilo::SystemMessage());
    }
    return 0;
  } catch (const CLI::ParseError& error) {
    // Help and version are no failures.
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const crossilo::Error& error) {
    std::fprintf(stderr, "crossilo: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "crossilo: unexpected: %s\n", error.what());
    return 1;
  }
}
