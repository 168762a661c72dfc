#include "shell/editor.h"

#include <fmt/core.h>
#include <histedit.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cwchar>

#include "shell/history_file.h"
#include "tools/kvctl/interrupts.h"

namespace keyway::kvctl {
namespace {

constexpr std::size_t kNarrowest = 20;  // columns; of a terminal that does not say, kDefault
constexpr std::size_t kDefault = 80;

std::size_t columns() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kDefault;
  return std::max<std::size_t>(size.ws_col, kNarrowest);
}

/// Columns of a text; invalid bytes count one each.
std::size_t width_of(std::string_view text) {
  std::size_t width = 0;
  std::mbstate_t state{};
  while (!text.empty()) {
    wchar_t c = 0;
    std::size_t bytes = std::mbrtowc(&c, text.data(), text.size(), &state);
    if (bytes == 0 || bytes > text.size()) {
      bytes = 1;
      state = {};
      c = L'?';
    }
    width += static_cast<std::size_t>(std::max(::wcwidth(c), 0));
    text.remove_prefix(bytes);
  }
  return width;
}

void put(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

/// Words in columns, as a shell lists files.
std::string in_columns(const std::vector<std::string>& words) {
  std::size_t widest = 0;
  for (const std::string& word : words) widest = std::max(widest, word.size() + 2);
  const std::size_t per_line = std::max<std::size_t>(columns() / widest, 1);
  std::string text = "\n";
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool last = i % per_line == per_line - 1 || i + 1 == words.size();
    text += last ? words[i] + '\n' : fmt::format("{:<{}}", words[i], widest);
  }
  return text;
}

std::string common_beginning(const std::vector<std::string>& words) {
  std::string_view common = words.front();
  for (const std::string& word : words) {
    const auto end = std::mismatch(common.begin(), common.end(), word.begin(), word.end()).first;
    common = common.substr(0, static_cast<std::size_t>(end - common.begin()));
  }
  return std::string(common);
}

}  // namespace

struct Editor::Terminal {
  EditLine* edit = nullptr;
  History* history = nullptr;
  HistEvent event{};
  std::string prompt;
  std::string typed;  // when Ctrl-C was pressed
  bool stopped = false;
  bool hints = true;
  bool smart = true;  // whether the terminal can move its cursor

  static Terminal& of(EditLine* edit) {
    void* data = nullptr;
    el_get(edit, EL_CLIENTDATA, &data);
    return *static_cast<Terminal*>(data);
  }

  static char* show_prompt(EditLine* edit) { return of(edit).prompt.data(); }
  static unsigned char complete_word(EditLine* edit, int key);
  static int read_key(EditLine* edit, wchar_t* key);

  std::string line() const {
    const LineInfo* info = el_line(edit);
    return std::string(info->buffer, info->lastchar);
  }
  bool draw_hint() const;
  int read_character(wchar_t* key);
  bool wait_for_key();
  void suspend();
};

/// Inserts the common part of all completions; if there is nothing to add, lists them.
unsigned char Editor::Terminal::complete_word(EditLine* edit, int) {
  const LineInfo* info = el_line(edit);
  const std::string line(info->buffer, info->cursor);
  const Completion found = complete(line);
  if (found.words.empty()) return CC_ERROR;
  const std::string begun = line.substr(found.from);
  std::string common = common_beginning(found.words);
  if (found.words.size() == 1) common += ' ';
  if (common.size() <= begun.size()) {
    put(in_columns(found.words));
    return CC_REDISPLAY;
  }
  el_deletestr(edit, static_cast<int>(begun.size()));
  return el_insertstr(edit, common.c_str()) == 0 ? CC_REFRESH : CC_ERROR;
}

/// Behind the cursor, as much as the line has room for; the cursor stays where it is.
bool Editor::Terminal::draw_hint() const {
  const LineInfo* info = el_line(edit);
  if (!hints || !smart || info->cursor != info->lastchar) return false;
  const std::string text = line();
  if (text.find('\n') != std::string::npos) return false;  // a search is in progress
  std::string shown = hint(text);
  if (shown.empty()) return false;
  if (!text.ends_with(' ')) shown.insert(0, 1, ' ');
  const std::size_t at = (width_of(prompt) + width_of(text)) % columns();
  const std::size_t room = columns() - at - 1;
  if (at == 0 || room < 2) return false;
  shown.resize(std::min(shown.size(), room));
  put(fmt::format("\x1b[90m{}\x1b[0m\x1b[{}D", shown, shown.size()));
  return true;
}

void Editor::Terminal::suspend() {
  el_set(edit, EL_PREP_TERM, 0);
  put("\n");
  ::raise(SIGSTOP);
  el_set(edit, EL_PREP_TERM, 1);
  el_set(edit, EL_REFRESH);
}

/// False where Ctrl-C came first.
bool Editor::Terminal::wait_for_key() {
  while (wait_for(STDIN_FILENO, std::nullopt) == Waited::kSignal) {
    if (Interrupts::take_stop()) return false;
    if (Interrupts::take_suspend()) suspend();
    if (Interrupts::take_resize()) el_resize(edit);
  }
  return true;
}

int Editor::Terminal::read_character(wchar_t* key) {
  std::mbstate_t state{};
  for (;;) {
    char byte = 0;
    const ssize_t got = ::read(STDIN_FILENO, &byte, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return static_cast<int>(got);
    const std::size_t bytes = std::mbrtowc(key, &byte, 1, &state);
    if (bytes == static_cast<std::size_t>(-2)) continue;  // more of it comes
    if (bytes == static_cast<std::size_t>(-1)) *key = L'?';
    return 1;
  }
}

int Editor::Terminal::read_key(EditLine* edit, wchar_t* key) {
  Terminal& terminal = of(edit);
  pollfd waiting{STDIN_FILENO, POLLIN, 0};
  const bool typing = ::poll(&waiting, 1, 0) == 0;  // else it is being pasted
  const bool drawn = typing && terminal.draw_hint();
  const bool came = terminal.wait_for_key();
  if (drawn) put("\x1b[K");
  if (came) return terminal.read_character(key);
  terminal.stopped = true;
  terminal.typed = terminal.line();
  return -1;
}

Editor::Editor() : terminal_(std::make_unique<Terminal>()) {
  std::setlocale(LC_CTYPE, "");
  if (MB_CUR_MAX == 1) std::setlocale(LC_CTYPE, "C.UTF-8");
  Terminal& terminal = *terminal_;
  const char* kind = std::getenv("TERM");
  terminal.smart = kind != nullptr && std::strcmp(kind, "dumb") != 0;
  terminal.edit = el_init("kvctl", stdin, stdout, stderr);
  terminal.history = history_init();
  history(terminal.history, &terminal.event, H_SETSIZE, static_cast<int>(kMaxHistoryLines));
  history(terminal.history, &terminal.event, H_SETUNIQUE, 1);
  EditLine* edit = terminal.edit;
  el_set(edit, EL_CLIENTDATA, &terminal);
  el_set(edit, EL_PROMPT, &Terminal::show_prompt);
  el_set(edit, EL_EDITOR, "emacs");
  el_set(edit, EL_HIST, history, terminal.history);
  el_set(edit, EL_GETCFN, &Terminal::read_key);
  el_set(edit, EL_ADDFN, "kvctl-complete", "completes a word", &Terminal::complete_word);
  el_set(edit, EL_BIND, "^I", "kvctl-complete", nullptr);
  el_set(edit, EL_BIND, "^R", "em-inc-search-prev", nullptr);
  el_set(edit, EL_BIND, "^S", "em-inc-search-next", nullptr);
  el_set(edit, EL_BIND, "\\e[3~", "ed-delete-next-char", nullptr);
  el_set(edit, EL_BIND, "\\e[1;5C", "em-next-word", nullptr);
  el_set(edit, EL_BIND, "\\e[1;5D", "ed-prev-word", nullptr);
  el_source(edit, nullptr);
}

Editor::~Editor() {
  history_end(terminal_->history);
  el_end(terminal_->edit);
}

Read Editor::read(const std::string& prompt, std::string& line) {
  Terminal& terminal = *terminal_;
  terminal.prompt = prompt;
  terminal.hints = hints_;
  terminal.stopped = false;
  int count = 0;
  el_set(terminal.edit, EL_PREP_TERM, 1);  // before the prompt is seen: keys may come at once
  const char* text = el_gets(terminal.edit, &count);
  if (terminal.stopped) {
    line = terminal.typed;
    return Read::kStopped;
  }
  if (text == nullptr || count <= 0) return Read::kEnd;
  line.assign(text, static_cast<std::size_t>(count));
  while (line.ends_with('\n') || line.ends_with('\r')) line.pop_back();
  return Read::kLine;
}

void Editor::remember(const std::string& line) {
  history(terminal_->history, &terminal_->event, H_ENTER, line.c_str());
}

}  // namespace keyway::kvctl
