#include <csignal>
#include <cstdio>

#include "crossilo/base/error.h"
#include "crossilo/base/file.h"
#include "crossilo/cli/collection.h"
#include "crossilo/cli/command.h"
#include "crossilo/index/generations.h"
#include "crossilo/serve/server.h"

namespace crossilo {
namespace {

struct ServeArguments {
  std::string collection, token_file;
  std::vector<std::string> backbones;
  ServerOptions options;
};

std::atomic<bool> stop = false;

// The second time at once: requests under way may take their time.
void EndServing(int signal) {
  if (!stop.exchange(true)) return;
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

std::string ReadToken(const std::string& file) {
  std::string token = ReadFile(file);
  while (!token.empty() && std::isspace(static_cast<unsigned char>(token.back()))) token.pop_back();
  if (token.size() < 16) {
    throw Error("{}: a token has at least 16 characters; make one with `openssl rand -hex 24`",
                file);
  }
  return token;
}

void RunServer(ServeArguments a) {
  if (!a.token_file.empty()) a.options.token = ReadToken(a.token_file);
  CheckExposure(a.options);
  std::signal(SIGINT, EndServing);
  std::signal(SIGTERM, EndServing);
  // Whoever read our messages may be gone; that is no reason to end.
  std::signal(SIGPIPE, SIG_IGN);
  a.options.current = [&] { return CurrentGeneration(a.collection); };
  const auto open = [&] { return OpenCollection(a.collection, a.backbones, {.threads = 1}); };
  Serve(
      open, a.options,
      [&](const std::string& address) {
        std::printf("%s is served at %s (Ctrl-C ends it)\n", a.collection.c_str(), address.c_str());
        std::fflush(stdout);
      },
      [](const std::string& message) { std::fprintf(stderr, "crossilo: %s\n", message.c_str()); },
      stop);
}

}  // namespace

void AddServe(CLI::App& app) {
  CLI::App* command = app.add_subcommand("serve", "Open a collection to people: a page, and HTTP");
  auto a = std::make_shared<ServeArguments>();
  command->add_option("collection", a->collection, "A collection's folder")->required();
  command->add_option("--host", a->options.host, "Where to listen; 127.0.0.1 is this machine only");
  command->add_option("--port", a->options.port, "0: any that is free")
      ->check(CLI::Range(0, 65535));
  command->add_option("--certificate", a->options.certificate, "For TLS, a PEM file");
  command->add_option("--key", a->options.key, "Its private key, a PEM file");
  command->add_option("--token-file", a->token_file, "Ask every client for the token in this file");
  command->add_option("--connections", a->options.connections, "Served at the same time")
      ->check(CLI::Range(1, 100000));
  command->add_option("--backbones", a->backbones, "Folders to look for backbone files in");
  command->footer(
      "\nExamples:\n"
      "  crossilo serve found/emoji\n"
      "  crossilo serve found/emoji --host 0.0.0.0 --port 8443 --certificate cert.pem --key "
      "key.pem "
      "--token-file token\n");
  command->callback([a] { RunServer(*a); });
}

}  // namespace crossilo
