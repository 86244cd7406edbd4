#include "cli/flags/flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>
#include <utility>

#include "cli/flags/suggest.h"
#include "cli/terminal/error/error_codes.h"
#include "instances/numeric/numbers.h"

namespace stowage {
namespace {

// The callbacks below throw it through CLI11, which has no other way to report an error; parse()
// catches it.
struct BadFlag {
  InputError error;
};

InputError usage_error(std::string where, std::string message) {
  return {kUsage, std::move(where), std::move(message)};
}

// Returns the name for messages: the last of "-t,--time-limit".
std::string long_name(const std::string& names) { return names.substr(names.rfind(',') + 1); }

std::string unknown_value(const std::string& value, const std::vector<std::string>& choices) {
  return "unknown value '" + value + "' (choose " + comma_list(choices) + ')' +
         suggestion(value, choices);
}

template <class T>
std::optional<T> whole(const std::string& text) {
  T value{};
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

// Adds one CLI11 option that takes one value and passes it to `accept`.
template <class F>
void add_valued(CLI::App& app, const std::string& names, const std::string& placeholder,
                const std::string& help, F accept) {
  app.add_option_function<std::string>(names, accept, help)
      ->type_name(placeholder)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

constexpr std::size_t kHelpColumn = 34;  // column where the texts of the options begin
constexpr std::size_t kHelpWidth = 100;
constexpr std::size_t kLongestChoices = 70;  // longer lists of choices move into the text

// Returns the text in lines of at most `width` bytes, broken at blanks; a longer word has a line of
// its own.
std::string wrapped(const std::string& text, std::size_t width) {
  std::istringstream words(text);
  std::string lines;
  std::size_t used = 0;
  for (std::string word; words >> word;) {
    if (used > 0 && used + 1 + word.size() > width) {
      lines += '\n';
      used = 0;
    } else if (used > 0) {
      lines += ' ';
      ++used;
    }
    lines += word;
    used += word.size();
  }
  return lines;
}

// CLI11's formatter supports neither our order of arguments nor a limited line width.
class HelpFormatter : public CLI::Formatter {
 public:
  explicit HelpFormatter(std::string usage) : usage_(std::move(usage)) {
    column_width(kHelpColumn);
  }
  std::string make_usage(const CLI::App*, std::string) const override {
    return "Usage: " + usage_ + '\n';
  }
  std::string make_option_desc(const CLI::Option* option) const override {
    return wrapped(option->get_description(), kHelpWidth - kHelpColumn);
  }

 private:
  std::string usage_;
};

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

}  // namespace

Flags::Flags(const std::string& command, const std::string& arguments, const std::string& summary)
    : app_(std::make_unique<CLI::App>(summary, command)) {
  // our help flag is an ordinary toggle, because it must take precedence over missing arguments
  app_->set_help_flag();
  toggle("-h,--help", help_wanted_, "Show this help");
  toggle("-V,--version", version_wanted_, "Show version, backends, licences");
  app_->allow_extras();
  app_->formatter(std::make_shared<HelpFormatter>(command + ' ' + arguments));
}

Flags::~Flags() = default;

void Flags::positional(const std::string& name, std::string& target, const std::string& help,
                       bool required) {
  app_->add_option(name, target, help)->type_name("");
  positionals_.push_back({name, &target, required, {}});
  describe(name, name, help);
}

void Flags::further(const std::string& name, std::vector<std::string>& target,
                    const std::string& help) {
  app_->add_option(name, target, help)->type_name("");
  describe(name, name, help);
  texts_.back().repeated = true;
}

void Flags::positional_choice(const std::string& name, std::string& target,
                              const std::vector<std::string>& choices, const std::string& help) {
  positional(name, target, help);
  positionals_.back().choices = choices;
  texts_.back().choices = choices;
}

void Flags::toggle(const std::string& names, bool& target, const std::string& help) {
  app_->add_flag_callback(
          names, [&target] { target = true; }, help)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  describe(names, "", help);
}

void Flags::text(const std::string& names, std::string& target, const std::string& placeholder,
                 const std::string& help) {
  describe(names, placeholder, help);
  add_valued(*app_, names, placeholder, help, [&target, names](const std::string& value) {
    if (value.empty()) throw BadFlag{usage_error(long_name(names), "must not be empty")};
    target = value;
  });
}

void Flags::choice(const std::string& names, std::string& target,
                   const std::vector<std::string>& choices, const std::string& help) {
  std::string placeholder;
  for (const std::string& word : choices) placeholder += (placeholder.empty() ? "" : "|") + word;
  std::string told = help;
  if (placeholder.size() > kLongestChoices) {
    placeholder = "NAME";
    told += "; one of " + comma_list(choices);
  }
  describe(names, placeholder, told, choices);
  add_valued(*app_, names, placeholder, told, [&target, names, choices](const std::string& value) {
    if (std::find(choices.begin(), choices.end(), value) == choices.end()) {
      throw BadFlag{usage_error(long_name(names), unknown_value(value, choices))};
    }
    target = value;
  });
}

void Flags::number(const std::string& names, std::optional<double>& target,
                   const std::string& placeholder, double least, double most,
                   const std::string& help) {
  describe(names, placeholder, help);
  add_valued(*app_, names, placeholder, help, [&target, names, least, most](const std::string& v) {
    const std::optional<double> value = whole<double>(v);
    if (!value || !std::isfinite(*value) || *value < least || *value > most) {
      const std::string range = most < 1e15 ? "from " + shortest(least) + " to " + shortest(most)
                                            : "of at least " + shortest(least);
      throw BadFlag{
          usage_error(long_name(names), "must be a number " + range + ", is '" + v + '\'')};
    }
    target = value;
  });
}

void Flags::integer(const std::string& names, std::optional<std::int64_t>& target,
                    const std::string& placeholder, std::int64_t least, std::int64_t most,
                    const std::string& help) {
  describe(names, placeholder, help);
  add_valued(*app_, names, placeholder, help, [&target, names, least, most](const std::string& v) {
    const std::optional<std::int64_t> value = whole<std::int64_t>(v);
    if (!value || *value < least || *value > most) {
      throw BadFlag{usage_error(long_name(names), "must be an integer from " +
                                                      std::to_string(least) + " to " +
                                                      std::to_string(most) + ", is '" + v + '\'')};
    }
    target = value;
  });
}

void Flags::list(const std::string& names, std::vector<std::string>& target,
                 const std::string& placeholder, const std::string& help) {
  describe(names, placeholder, help);
  add_valued(*app_, names, placeholder, help, [&target, names](const std::string& value) {
    target.clear();
    for (std::size_t begin = 0; begin <= value.size();) {
      const std::size_t end = std::min(value.find(',', begin), value.size());
      if (end == begin) {
        throw BadFlag{usage_error(long_name(names),
                                  "must be words separated by commas, is '" + value + '\'')};
      }
      target.push_back(value.substr(begin, end - begin));
      begin = end + 1;
    }
  });
}

void Flags::describe(const std::string& names, const std::string& placeholder,
                     const std::string& help, const std::vector<std::string>& choices) {
  FlagText text{.placeholder = placeholder, .choices = choices, .help = help};
  for (std::size_t begin = 0; begin <= names.size();) {
    const std::size_t end = std::min(names.find(',', begin), names.size());
    text.names.push_back(names.substr(begin, end - begin));
    begin = end + 1;
  }
  texts_.push_back(std::move(text));
}

std::vector<std::string> Flags::long_names() const {
  std::vector<std::string> names;
  for (const CLI::Option* option : std::as_const(*app_).get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

// Finds misspelt flags and missing values before CLI11 does. CLI11 would take the value of a
// misspelt flag for a positional and report another error.
std::optional<InputError> Flags::check_names(const std::vector<std::string>& arguments) const {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "--") return std::nullopt;
    if (argument.size() < 2 || argument[0] != '-') continue;
    const bool is_long = argument[1] == '-';
    const std::size_t equals = argument.find('=');
    const std::string name = is_long ? argument.substr(0, equals) : argument.substr(0, 2);
    const CLI::Option* option = std::as_const(*app_).get_option_no_throw(name);
    if (option == nullptr) {
      return usage_error(name, "unknown flag" + suggestion(name, long_names()));
    }
    if (!takes_value(*option)) {
      if (is_long && equals != std::string::npos) return usage_error(name, "takes no value");
      if (!is_long && argument.size() > 2) return usage_error(argument, "unknown flag");
      continue;
    }
    const bool value_inside = is_long ? equals != std::string::npos : argument.size() > 2;
    if (value_inside) continue;
    if (i + 1 == arguments.size()) return usage_error(name, "a value must follow");
    ++i;
  }
  return std::nullopt;
}

std::optional<InputError> Flags::parse(const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments) {
    if (argument == "--") break;
    help_wanted_ = help_wanted_ || argument == "-h" || argument == "--help";
    version_wanted_ = version_wanted_ || argument == "-V" || argument == "--version";
  }
  if (help_wanted_ || version_wanted_) return std::nullopt;
  if (auto error = check_names(arguments)) return error;
  try {
    // CLI11 expects the arguments in reverse order.
    app_->parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const BadFlag& bad) {
    return bad.error;
  } catch (const CLI::ParseError& e) {
    return usage_error(app_->get_name(), e.what());
  }
  std::vector<std::string> extras = app_->remaining();
  // CLI11 keeps the separator "--" among the remaining arguments.
  if (const auto mark = std::find(extras.begin(), extras.end(), "--"); mark != extras.end()) {
    extras.erase(mark);
  }
  if (!extras.empty()) {
    return usage_error(extras.front(), "unexpected argument (see " + app_->get_name() + " --help)");
  }
  for (const Positional& p : positionals_) {
    if (p.required && p.target->empty()) {
      return usage_error(p.name, "is missing (see " + app_->get_name() + " --help)");
    }
    if (!p.choices.empty() && std::ranges::find(p.choices, *p.target) == p.choices.end()) {
      return usage_error(p.name, unknown_value(*p.target, p.choices));
    }
  }
  return std::nullopt;
}

std::string Flags::help() const { return app_->help(); }

}  // namespace stowage
