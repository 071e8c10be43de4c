// What goes wrong before the page, and what it says then.  In real Chromium.

#include <gmock/gmock.h>

#include "crossilo/serve/page_fixture.h"

namespace crossilo {
namespace {

using testing::HasSubstr;

TEST_F(PageTest, NothingFoundOffersToRemoveTheFilters) {
  Visit("/?words=cat&silo=west&class=dogs");
  AwaitText("#trouble", "Nothing found");
  EXPECT_THAT(Text("#summary"), HasSubstr("nothing found"));
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

TEST_F(PageTest, AHundredThousandCharactersAreRefusedAtOnce) {
  Visit("/?words=cat");
  const std::string long_text = "'cat '.repeat(25000)";
  browser().Eval("(() => { const data = new DataTransfer(); data.setData('text/plain', " +
                 long_text +
                 "); document.getElementById('words').dispatchEvent(new ClipboardEvent('paste', "
                 "{bubbles: true, cancelable: true, clipboardData: data})); })()");
  AwaitText("#trouble", "That is 100,000 characters long, and 1,000 are the most");
  EXPECT_EQ(browser().Eval("document.getElementById('words').value"), "cat");
  EXPECT_EQ(browser().Eval("document.getElementById('words').maxLength"), 1000);

  // Past the box's own limit, as a program would.
  browser().Eval("void (document.getElementById('words').value = 'x'.repeat(100000))");
  browser().Press(keys::kEnter);
  AwaitText("#trouble", "That is 100,000 characters long");
  EXPECT_LT(browser().Eval("location.href.length").get<int>(), 100);
  browser().Eval("document.getElementById('words').select()");
  browser().Press("dog");
  browser().Await("document.querySelector('.hit .caption')?.innerText === 'dog 00'");
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
  browser().Await("document.getElementById('gate-reason').innerText !== ''");
  browser().Press(std::string("open-sesame-open-sesame") + keys::kEnter);
  AwaitHits(24);
  EXPECT_FALSE(Visible("#gate"));
  // Pictures need it too.
  browser().Await("document.querySelector('.hit img').naturalWidth === 1");
  EXPECT_EQ(browser().Eval("[localStorage.length, document.cookie, sessionStorage.length]"),
            (nlohmann::json{0, "", 1}));
}

}  // namespace
}  // namespace crossilo
