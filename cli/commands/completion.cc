// stowage completion: prints a completion script for a shell, generated from the declared commands,
// flags and choices of values. All other values complete as files.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/flags/command.h"
#include "cli/flags/common_flags.h"

namespace stowage {
namespace {

std::string joined(const std::vector<std::string>& words, const char* between) {
  std::string all;
  for (const std::string& word : words) all += (all.empty() ? "" : between) + word;
  return all;
}

// "generate scatter" -> {"generate", "scatter"}; "solve" -> {"solve", ""}
std::pair<std::string, std::string> halves(std::string_view name) {
  const std::size_t blank = name.find(' ');
  if (blank == std::string_view::npos) return {std::string(name), ""};
  return {std::string(name.substr(0, blank)), std::string(name.substr(blank + 1))};
}

// Returns the first words of all commands, each once, in order.
std::vector<std::string> first_words(const std::vector<CommandManual>& commands) {
  std::vector<std::string> words;
  for (const CommandManual& command : commands) {
    const std::string word = halves(command.text.name).first;
    if (std::ranges::find(words, word) == words.end()) words.push_back(word);
  }
  return words;
}

// Returns the second words of the commands that begin with `first`: "scatter", "assign", "layout"
// for "generate".
std::vector<std::string> second_words(const std::vector<CommandManual>& commands,
                                      const std::string& first) {
  std::vector<std::string> words;
  for (const CommandManual& command : commands) {
    const auto [head, tail] = halves(command.text.name);
    if (head == first && !tail.empty()) words.push_back(tail);
  }
  return words;
}

// Returns `text` in single quotes, in the syntax of both shells.
std::string quoted(const std::string& text) {
  std::string shell = "'";
  for (const char c : text) shell += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return shell + "'";
}

// Returns the text with a backslash before each character of `special`.
std::string escaped(const std::string& text, std::string_view special) {
  std::string all;
  for (const char c : text) {
    if (special.find(c) != std::string_view::npos) all += '\\';
    all += c;
  }
  return all;
}

// Returns one line of a bash `case` on "COMMAND:WORD BEFORE".
std::string bash_values(const CommandManual& command) {
  std::string cases;
  for (const FlagText& flag : command.flags) {
    if (flag.choices.empty() || flag.positional()) continue;
    std::string patterns;
    for (const std::string& name : flag.names) {
      patterns +=
          (patterns.empty() ? "" : " | ") + quoted(std::string(command.text.name) + ':' + name);
    }
    cases += "    " + patterns + ") values=" + quoted(joined(flag.choices, " ")) + " ;;\n";
  }
  return cases;
}

std::string bash_words(const CommandManual& command) {
  std::vector<std::string> flags;
  std::vector<std::string> values;
  for (const FlagText& flag : command.flags) {
    std::vector<std::string>& into = flag.positional() ? values : flags;
    const std::vector<std::string>& from = flag.positional() ? flag.choices : flag.names;
    into.insert(into.end(), from.begin(), from.end());
  }
  return "    " + quoted(std::string(command.text.name)) + ") flags=" + quoted(joined(flags, " ")) +
         " words=" + quoted(joined(values, " ")) + " ;;\n";
}

// Returns one argument of zsh's _arguments.
std::string zsh_argument(const FlagText& flag) {
  const std::string action =
      !flag.choices.empty() ? '(' + joined(flag.choices, " ") + ')' : std::string("_files");
  const std::string value = ':' + escaped(flag.placeholder, ":\\") + ':' + action;
  if (flag.positional()) return quoted((flag.repeated ? "*" : "") + value);
  const std::string help = '[' + escaped(flag.help, "[]\\") + ']';
  const std::string rest = quoted(help + (flag.takes_value() ? value : ""));
  if (flag.names.size() == 1) {
    return quoted(flag.names[0] + (flag.takes_value() ? "=" : "")) + rest;
  }
  const std::string long_name = flag.names.back() + (flag.takes_value() ? "=" : "");
  return quoted('(' + joined(flag.names, " ") + ')') + '{' + flag.names.front() + ',' + long_name +
         '}' + rest;
}

// Returns "    words=('solve:Plan an instance' ...)" in the syntax of _describe.
std::string zsh_descriptions(const std::string& array, const std::vector<CommandManual>& commands,
                             const std::vector<std::string>& names, const std::string& before) {
  std::string text = array + "=(\n";
  for (const std::string& name : names) {
    const auto command = std::ranges::find_if(
        commands, [&](const CommandManual& each) { return each.text.name == before + name; });
    const std::string summary = command == commands.end()
                                    ? joined(second_words(commands, name), ", ")
                                    : std::string(command->text.summary);
    text += "      " + quoted(name + ':' + escaped(summary, ":\\")) + '\n';
  }
  return text + "    )\n";
}

std::string bash_completion(const std::vector<CommandManual>& commands) {
  std::string text =
      "# bash completion of stowage, made by `stowage completion bash`\n"
      "_stowage() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}\n"
      "  local command=${COMP_WORDS[1]} flags='' words='' values=''\n"
      "  # bash splits --flag=value into three words.\n"
      "  if [[ $word == = ]]; then\n"
      "    word=''\n"
      "  elif [[ $before == = ]]; then\n"
      "    before=${COMP_WORDS[COMP_CWORD - 2]}\n"
      "  fi\n"
      "  COMPREPLY=()\n"
      "  if ((COMP_CWORD == 1)); then\n"
      "    mapfile -t COMPREPLY < <(compgen -W " +
      quoted(joined(first_words(commands), " ") + " help --help --version") +
      " -- \"$word\")\n"
      "    return\n"
      "  fi\n";
  for (const std::string& first : first_words(commands)) {
    const std::vector<std::string> second = second_words(commands, first);
    if (second.empty()) continue;
    text += "  if [[ $command == " + first +
            " ]]; then\n"
            "    if ((COMP_CWORD == 2)); then\n"
            "      mapfile -t COMPREPLY < <(compgen -W " +
            quoted(joined(second, " ")) +
            " -- \"$word\")\n"
            "      return\n"
            "    fi\n"
            "    command=\"$command ${COMP_WORDS[2]}\"\n"
            "  fi\n";
  }
  text += "  case $command in\n";
  for (const CommandManual& command : commands) text += bash_words(command);
  text += "  esac\n  case $command:$before in\n";
  for (const CommandManual& command : commands) text += bash_values(command);
  text +=
      "  esac\n"
      "  if [[ -n $values ]]; then\n"
      "    mapfile -t COMPREPLY < <(compgen -W \"$values\" -- \"$word\")\n"
      "  elif [[ $word == -* ]]; then\n"
      "    mapfile -t COMPREPLY < <(compgen -W \"$flags\" -- \"$word\")\n"
      "  elif [[ -n $words ]]; then\n"
      "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n"
      "  fi\n"
      "}\n"
      "# Without a reply of ours, a file.\n"
      "complete -o default -F _stowage stowage\n";
  return text;
}

std::string zsh_completion(const std::vector<CommandManual>& commands) {
  std::string text =
      "#compdef stowage\n"
      "# zsh completion of stowage, made by `stowage completion zsh`\n"
      "_stowage() {\n"
      "  local -a known\n"
      "  if ((CURRENT == 2)); then\n    " +
      zsh_descriptions("known", commands, first_words(commands), "") +
      "    _describe command known\n"
      "    return\n"
      "  fi\n"
      "  local command=$words[2]\n"
      "  shift words\n"
      "  ((CURRENT -= 1))\n";
  for (const std::string& first : first_words(commands)) {
    const std::vector<std::string> second = second_words(commands, first);
    if (second.empty()) continue;
    text += "  if [[ $command == " + first +
            " ]]; then\n"
            "    if ((CURRENT == 2)); then\n    " +
            zsh_descriptions("known", commands, second, first + ' ') +
            "      _describe family known\n"
            "      return\n"
            "    fi\n"
            "    command=\"$command $words[2]\"\n"
            "    shift words\n"
            "    ((CURRENT -= 1))\n"
            "  fi\n";
  }
  text += "  case $command in\n";
  for (const CommandManual& command : commands) {
    text += "    (" + quoted(std::string(command.text.name)) + ")\n      _arguments";
    for (const FlagText& flag : command.flags) text += " \\\n        " + zsh_argument(flag);
    text += "\n      ;;\n";
  }
  text +=
      "  esac\n"
      "}\n"
      "# Loaded by compinit when first used, or read with `source <(stowage completion zsh)`.\n"
      "if [[ $funcstack[1] == _stowage ]]; then\n"
      "  _stowage \"$@\"\n"
      "else\n"
      "  compdef _stowage stowage\n"
      "fi\n";
  return text;
}

class CompletionCommand : public Command {
 public:
  CommandText text() const override {
    return {.name = "completion",
            .arguments = "SHELL",
            .summary = "Print what a shell needs to complete command lines",
            .examples = {"stowage completion bash", "stowage completion zsh",
                         "stowage completion bash --log-level error"}};
  }

  void declare(Flags& flags) override {
    flags.positional_choice("SHELL", shell_, {"bash", "zsh"},
                            "bash or zsh; read it with source <(stowage completion SHELL)");
    output_flags_.declare(flags, false);
  }

  ExitCode run(Console& console) override {
    output_flags_.apply(console);
    const std::vector<CommandManual> commands = command_manuals();
    return console.answer(shell_ == "zsh" ? zsh_completion(commands) : bash_completion(commands),
                          ExitCode::ok);
  }

 private:
  std::string shell_;
  OutputFlags output_flags_;
};

}  // namespace

std::unique_ptr<Command> make_completion_command() { return std::make_unique<CompletionCommand>(); }

}  // namespace stowage
