#pragma once
// --help on a terminal of any width.

#include "cli/examples.hpp"

#include <CLI/CLI.hpp>

#include <cstddef>
#include <string>

namespace tracso {

class HelpFormatter final : public CLI::Formatter {
 public:
  /// `columns`: of the terminal; 80 where there is none.
  explicit HelpFormatter(std::size_t columns);

  std::string make_help(const CLI::App* app,
                        std::string name,
                        CLI::AppFormatMode mode) const override;
  std::string make_usage(const CLI::App* app, std::string name) const override;
  std::string make_description(const CLI::App* app) const override;
  std::string make_option(const CLI::Option* option, bool is_positional) const override;
  std::string make_subcommand(const CLI::App* command) const override;
  std::string make_footer(const CLI::App* app) const override;

 private:
  std::string entry(const std::string& name, const std::string& text) const;
  std::string example(const Example& one) const;

  std::size_t columns_;
};

}  // namespace tracso
