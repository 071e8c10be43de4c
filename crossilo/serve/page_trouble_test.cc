// What goes wrong before the page, and what it says then.  In real Chromium.

#include <gmock/gmock.h>

#include "crossilo/base/file.h"
#include "crossilo/serve/page_fixture.h"

namespace crossilo {
namespace {

using testing::HasSubstr;

TEST_F(PageTest, NothingFoundOffersToRemoveTheFilters) {
  Visit("/?words=cat&silo=west&class=dogs");
  AwaitText("#trouble", "Nothing found");
  EXPECT_THAT(Text("#summary"), HasSubstr("Nothing found"));
  browser().Click("#trouble button");
  AwaitHits(24);
  EXPECT_FALSE(Visible("#trouble"));
}

TEST_F(PageTest, UnknownWordsAreSaid) {
  ExpectRefusals();
  Visit("/?words=zebra");
  AwaitText("#trouble", "one of these words is known");
  EXPECT_EQ(Hits(), 0);
}

TEST_F(PageTest, ServerGoneAndBack) {
  ExpectRefusals();
  Visit("/?words=cat");
  int port = server_->port();
  server_.reset();
  browser().Eval("document.getElementById('words').select()");
  browser().Press("dog");
  AwaitText("#gone", "The server does not answer.");
  EXPECT_EQ(Caption(0), "cat 00");  // what was there still is
  server_ = std::make_unique<RunningServer>(Collection(), ServerOptions{.port = port});
  browser().Await("document.querySelector('.hit .caption').innerText === 'dog 00'");
  EXPECT_FALSE(Visible("#gone"));
}

TEST_F(PageTest, NothingMovesWhileTheServerIsGone) {
  ExpectRefusals();
  Visit("/?words=cat");
  AwaitHits(24);
  browser().Click("#more");
  AwaitHits(48);
  int port = server_->port();
  server_.reset();
  browser().Click("#more");
  AwaitText("#gone", "The server does not answer.");
  EXPECT_EQ(browser().Eval("document.activeElement.id"), "more");
  EXPECT_EQ(browser().Eval("(({top, bottom}) => top >= 0 && bottom <= innerHeight)"
                           "(document.getElementById('gone').getBoundingClientRect())"),
            true);
  browser().Eval("document.querySelector('.hit:nth-child(40) .like').focus()");
  int before = browser().Eval("Math.round(scrollY)").get<int>();
  EXPECT_GT(before, 500);
  server_ = std::make_unique<RunningServer>(Collection(), ServerOptions{.port = port});
  browser().Await("document.getElementById('gone').hidden");
  EXPECT_EQ(Hits(), 48);
  EXPECT_EQ(browser().Eval("document.activeElement.matches('.hit:nth-child(40) .like')"), true);
  EXPECT_NEAR(browser().Eval("scrollY").get<double>(), before, 2);
}

TEST_F(PageTest, ASlowAnswerIsSaidToBeComing) {
  browser().Open(server_->address() + "?words=slow");
  AwaitText("#waiting", "Searching…");
  gate_.open = true;
  gate_.open.notify_all();
  AwaitHits(24);
  EXPECT_EQ(Text("#waiting"), "");
  EXPECT_THAT(Text("#summary"), HasSubstr("24 nearest"));
}

TEST_F(PageTest, APictureThatChangesOnTheDiskIsAskedAsItWas) {
  const auto path = folder() / "changes.png";
  std::filesystem::copy_file(folder() / "dog.png", path);
  Visit("/?words=cat");
  browser().Type("#file", path.string());
  browser().Await("document.querySelector('.words .caption')?.innerText === 'dog 00'");
  WriteFile(path, "no picture any more");
  browser().Click("#among label:first-of-type");
  browser().Await("!document.querySelector('.words')");
  EXPECT_EQ(Caption(0), "dog 00");
  EXPECT_FALSE(Visible("#gone"));
}

TEST_F(PageTest, AFileThatCannotBeReadIsRefused) {
  Visit("/?words=cat");
  // As a folder that is dropped: it has a name, and no bytes.
  browser().Eval(
      "(() => { const file = new File(['x'], 'holidays');"
      "file.arrayBuffer = () => Promise.reject(new DOMException('', 'NotReadableError'));"
      "document.dispatchEvent(Object.assign(new Event('drop', {cancelable: true}),"
      "  {dataTransfer: {types: ['Files'], files: [file]}})); })()");
  AwaitText("#trouble", "The file “holidays” cannot be read");
  EXPECT_FALSE(Visible("#gone"));
}

TEST_F(PageTest, AnEmptyFileIsSaidToBeEmpty) {
  WriteFile(folder() / "empty.png", "");
  Visit("/?words=cat");
  browser().Type("#file", (folder() / "empty.png").string());
  AwaitText("#trouble", "This file is empty");
}

TEST_F(PageTest, AFileThatIsNoPictureIsRefused) {
  ExpectRefusals();
  Visit("/?words=cat");
  browser().Type("#file", (folder() / "notes.txt").string());
  AwaitText("#trouble", "not a picture");
  EXPECT_EQ(Hits(), 0);
  EXPECT_FALSE(Visible("#asked-picture"));
  // And nothing is stuck.
  browser().Type("#words", "dog");
  browser().Await("document.querySelector('.hit .caption')?.innerText === 'dog 00'");
}

// As if typed or pasted where the cursor is.
std::string Insert(const std::string& text) {
  return "document.execCommand('insertText', false, " + text + ")";
}

TEST_F(PageTest, TooManyCharactersAreRefusedAndNotCut) {
  Visit("/?words=cat");
  browser().Eval("document.getElementById('words').select()");
  browser().Eval(Insert("'dog '.repeat(225)"));
  browser().Await("document.querySelector('.hit .caption')?.innerText === 'dog 00'");
  browser().Eval(Insert("'cat '.repeat(200)"));
  AwaitText("#trouble", "That is 1,699 characters long, and 1,000 are the most");
  EXPECT_EQ(browser().Eval("document.getElementById('words').value.length"), 1700);
  browser().Eval("document.getElementById('words').select()");
  browser().Eval(Insert("'x'.repeat(100000)"));
  AwaitText("#trouble", "That is 100,000 characters long");
  EXPECT_LT(browser().Eval("location.href.length").get<int>(), 2100);
  browser().Eval("document.getElementById('words').select()");
  browser().Press("cat");
  browser().Await("document.querySelector('.hit .caption')?.innerText === 'cat 00'");
}

// An emoji is two of JavaScript's units, and one character to the server.
TEST_F(PageTest, SixHundredEmojiAreNotTooMany) {
  Visit("/?words=dog");
  browser().Eval("document.getElementById('words').select()");
  browser().Eval(Insert("'😺'.repeat(600) + ' cat'"));
  browser().Await("document.querySelector('.hit .caption')?.innerText === 'cat 00'");
}

// 9,000 bytes as an address has them, more than servers take there.
TEST_F(PageTest, AThousandCharactersOfChineseAreAsked) {
  Visit("/?words=dog");
  browser().Eval(
      "(() => { const box = document.getElementById('words');"
      "box.value = 'cat ' + '猫'.repeat(996); box.dispatchEvent(new Event('input')); })()");
  browser().Await("document.querySelector('.hit .caption').innerText === 'cat 00'");
  EXPECT_LT(browser().Eval("location.href.length").get<int>(), 2100);
}

TEST_F(PageTest, MarkupInACaptionIsText) {
  Visit("/?words=odd");
  EXPECT_EQ(Caption(0), "<img src=x onerror=\"window.ran = 1\"><script>window.ran = 2</script>");
  EXPECT_EQ(browser().Eval("document.querySelectorAll('.caption *, img[src=x]').length"), 0);
  EXPECT_EQ(browser().Label(".hit .like"), "More like this: " + Caption(0));
  browser().Click(".hit .like");
  AwaitText("#asked-text", "like: <img src=x");
  EXPECT_EQ(browser().Eval("window.ran ?? 'nothing ran'"), "nothing ran");
}

TEST_F(PageTest, ATokenIsAskedForAndKeptForTheTabOnly) {
  ExpectRefusals();
  RunningServer guarded(Collection(), {.port = 0, .token = "open-sesame-open-sesame"});
  browser().Open(guarded.address() + "?words=cat");
  browser().Await("document.getElementById('gate').checkVisibility()");
  EXPECT_EQ(browser().Eval("document.activeElement.id"), "token");
  browser().Press(std::string("wrong") + keys::kEnter);
  AwaitText("#gate-reason", "That token is not right.");
  browser().Press(std::string("open-sesame-open-sesame") + keys::kEnter);
  AwaitHits(24);
  EXPECT_FALSE(Visible("#gate"));
  // Pictures need it too.
  browser().Await("document.querySelector('.hit img').naturalWidth === 1");
  EXPECT_EQ(browser().Eval("[localStorage.length, document.cookie, sessionStorage.length]"),
            (nlohmann::json{0, "", 1}));
}

TEST_F(PageTest, ATokenOpensThePageAlsoAfterTyping) {
  ExpectRefusals();
  RunningServer guarded(Collection(), {.port = 0, .token = "open-sesame-open-sesame"});
  browser().Open(guarded.address());
  browser().Await("document.getElementById('gate').checkVisibility()");
  // Typed, and thought better of, and the box has done waiting for more: this
  // wait is as long as its own and began later.
  browser().Eval(
      "void ((box) => { box.value = ''; box.dispatchEvent(new Event('input'));"
      "setTimeout(() => { window.waited = true; }, 200); })(document.getElementById('words'))");
  browser().Await("window.waited");
  EXPECT_FALSE(Visible(".hello"));
  browser().Type("#token", std::string("open-sesame-open-sesame") + keys::kEnter);
  browser().Await("document.getElementById('welcome').checkVisibility()");
  EXPECT_FALSE(Visible("#gate"));
  EXPECT_TRUE(Visible(".hello"));
  EXPECT_EQ(browser().Eval("document.activeElement.id"), "words");
}

}  // namespace
}  // namespace crossilo
