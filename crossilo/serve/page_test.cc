// What a person asks the page, and what they see.  In real Chromium.

#include <gmock/gmock.h>

#include "crossilo/serve/page_fixture.h"

namespace crossilo {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

TEST_F(PageTest, FirstVisitSaysWhatIsHere) {
  Visit("/");
  EXPECT_EQ(Text("#about"), "animals · 63 items");
  EXPECT_TRUE(Visible("#welcome"));
  EXPECT_EQ(browser().Eval("document.activeElement.id"), "words");
  // The classes that are words of the collection give examples; "group 0" and
  // the like are unknown words, and give none.
  ExpectRefusals();
  browser().Await("document.querySelector('#examples button')");
  std::string example = Text("#examples button");
  browser().Click("#examples button");
  AwaitHits(24);
  EXPECT_EQ(browser().Eval("document.getElementById('words').value"), example);
}

TEST_F(PageTest, TheBoxStandsUnderTheHeadlineUntilSomethingIsAsked) {
  ExpectRefusals();  // of examples
  Visit("/");
  const std::string gap =
      "(([a, b]) => b.top - a.bottom)(['.hello', '#ask'].map("
      "(one) => document.querySelector(one).getBoundingClientRect()))";
  EXPECT_GT(browser().Eval(gap).get<double>(), 0);
  EXPECT_LT(browser().Eval(gap).get<double>(), 60);
  for (const char* tool : {"#among", "#silo-filter", "#class-filter", "#rerank-switch"}) {
    EXPECT_FALSE(Visible(tool)) << tool;
  }
  browser().Press("cat");
  AwaitHits(24);
  EXPECT_FALSE(Visible(".hello"));
  EXPECT_EQ(browser().Eval("document.activeElement.id"), "words");
  for (const char* tool : {"#among", "#silo-filter", "#class-filter", "#rerank-switch"}) {
    EXPECT_TRUE(Visible(tool)) << tool;
  }
  // A filter that stays is seen to stay.
  Visit("/?silo=south");
  EXPECT_EQ(Text("#tools"), "south\n×");
}

TEST_F(PageTest, WordsFindPictures) {
  Visit("/");
  ExpectRefusals();
  browser().Press(std::string("cat") + keys::kEnter);
  AwaitHits(24);
  // Cats 0, 8, 16, 24 and 32 have exactly the code of "cat"; equal ones by id.
  EXPECT_EQ(Caption(0), "cat 00");
  EXPECT_EQ(Distance(0), "0 bits");
  EXPECT_EQ(Silo(0), "north");
  EXPECT_EQ(Caption(4), "cat 32");
  EXPECT_EQ(Caption(5), "cat 01");
  EXPECT_EQ(Distance(5), "1 bit");
  EXPECT_EQ(Silo(5), "south");
  EXPECT_THAT(Text("#summary"), StartsWith("24 nearest of 63, searched in "));
  EXPECT_THAT(browser().Eval("location.search").get<std::string>(), StartsWith("?words=cat"));
  browser().Await("document.querySelector('.hit img').naturalWidth === 1");
}

TEST_F(PageTest, SearchesWhileTypingAndDropsStaleAnswers) {
  Visit("/?words=bird");
  browser().Eval("document.getElementById('words').select()");
  int before = gate_.waiting;
  browser().Press("slow");
  while (gate_.waiting == before) std::this_thread::yield();
  browser().Eval("document.getElementById('words').select()");
  browser().Press("dog");
  browser().Await("document.querySelector('.hit .caption')?.innerText === 'dog 00'");
  gate_.open = true;
  gate_.open.notify_all();
  while (gate_.passed == before) std::this_thread::yield();
  // Whatever the slow answer does, it has done it before a later one comes.
  browser().Eval("void fetch('/api/info').then(() => { window.later = true; })");
  browser().Await("window.later");
  EXPECT_EQ(Caption(0), "dog 00");
}

TEST_F(PageTest, TypingKeepsWhatToFind) {
  Visit("/?words=cat&among=text");
  browser().Eval("document.getElementById('words').select()");
  browser().Press("dog");
  browser().Await("document.querySelector('.words .caption')?.innerText === 'dog 00'");
  EXPECT_EQ(browser().Eval("location.search"), "?words=dog&among=text");
  EXPECT_EQ(browser().Eval("document.querySelector('#among :checked').value"), "text");
}

TEST_F(PageTest, AChosenPictureFindsWords) {
  Visit("/?words=cat");
  browser().Type("#file", (folder() / "dog.png").string());
  browser().Await("document.querySelector('.words .caption')?.innerText === 'dog 00'");
  EXPECT_EQ(Text("#asked-text"), "dog.png");
  browser().Await("document.getElementById('asked-picture').checkVisibility()");
  EXPECT_EQ(browser().Eval("document.getElementById('words').value"), "");
  EXPECT_EQ(browser().Eval("document.querySelector('#among :checked').value"), "text");

  browser().Click("#among label:first-of-type");
  browser().Await("!document.querySelector('.words')");
  EXPECT_EQ(Caption(0), "dog 00");

  browser().Click("#asked-remove");
  ExpectRefusals();
  browser().Await("document.getElementById('welcome').checkVisibility()");
  EXPECT_FALSE(Visible("#asked"));
  browser().Back();
  browser().Await("document.querySelector('.hit .caption')?.innerText === 'dog 00'");
  EXPECT_TRUE(Visible("#asked"));
}

// An event as the browser makes it when `file` is dropped or pasted.
std::string Send(const std::string& event, const std::string& kind, const std::string& base64) {
  return "(() => { const data = new DataTransfer();"
         "const bytes = Uint8Array.from(atob('" +
         base64 +
         "'), (c) => c.charCodeAt(0));"
         "data.items.add(new File([bytes], 'dot.png', {type: 'image/png'}));"
         "document.body.dispatchEvent(new " +
         event + "('" + kind +
         "', {bubbles: true, "
         "cancelable: true, dataTransfer: data, clipboardData: data})); })()";
}

constexpr char kDot[] =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mO4oKAAAALUARHyogz6AAAAAElFTkSuQmCC";

TEST_F(PageTest, ADroppedPictureFindsWords) {
  Visit("/?words=dog");
  browser().Eval(Send("DragEvent", "dragover", kDot));
  browser().Await("document.getElementById('drop').checkVisibility({visibilityProperty: true})");
  browser().Eval(Send("DragEvent", "drop", kDot));
  browser().Await("document.querySelector('.words .caption')?.innerText === 'cat 00'");
  EXPECT_EQ(browser().Eval("document.body.classList.contains('dragging')"), false);
}

TEST_F(PageTest, APastedPictureFindsWords) {
  Visit("/?words=dog");
  browser().Eval(Send("ClipboardEvent", "paste", kDot));
  browser().Await("document.querySelector('.words .caption')?.innerText === 'cat 00'");
}

TEST_F(PageTest, FiltersBySilo) {
  Visit("/?words=cat");
  browser().Click("#silo-filter summary");
  browser().Await("document.querySelectorAll('#silo-filter li').length === 3");
  // 20 even cats and 5 birds; 20 odd cats and 15 dogs; 3 odd captions.
  EXPECT_EQ(Text("#silo-filter ul"), "north\n25\nsouth\n35\nwest\n3");
  browser().Click("#silo-filter li:nth-child(2) input");
  AwaitText("#summary", "of 35,");
  EXPECT_EQ(Caption(0), "cat 01");
  EXPECT_EQ(browser().Eval(
                "[...document.querySelectorAll('.silo')].every((s) => s.innerText === 'south')"),
            true);
  EXPECT_EQ(browser().Label("#chips button"), "Remove silo south");
  EXPECT_THAT(browser().Eval("location.search").get<std::string>(), HasSubstr("silo=south"));
  browser().Click("#chips button");
  AwaitText("#summary", "of 63,");
  EXPECT_FALSE(Visible("#chips button"));
}

TEST_F(PageTest, FiltersByClassThatIsFoundByTyping) {
  Visit("/?words=cat");
  browser().Click("#class-filter summary");
  browser().Await("document.querySelectorAll('#class-filter li').length === 14");
  browser().Press("BIRD");  // the box there has the focus
  browser().Await("document.querySelectorAll('#class-filter li').length === 1");
  browser().Click("#class-filter li input");
  AwaitText("#summary", "5 nearest of 5,");
  EXPECT_EQ(Hits(), 5);
  EXPECT_EQ(Caption(0), "bird 00");
  EXPECT_EQ(Distance(0), "20 bits");
  browser().Eval("document.querySelector('#class-filter .panel input').select()");
  browser().Press("zebra");
  AwaitText("#class-filter .panel", "No class has this name.");
}

TEST_F(PageTest, ShowsMoreUntilThereIsNoMore) {
  Visit("/?words=cat");
  AwaitHits(24);
  browser().Click("#more");
  AwaitHits(48);
  EXPECT_THAT(
      browser().Eval("document.activeElement.closest('.hit')?.innerText").get<std::string>(),
      HasSubstr(Caption(24)));
  browser().Click("#more");
  AwaitHits(kAllAnimals);
  EXPECT_FALSE(Visible("#more"));
  EXPECT_EQ(browser().Eval(
                "new Set([...document.querySelectorAll('.like')].map((a) => a.dataset.id)).size"),
            kAllAnimals);
}

TEST_F(PageTest, TheLastHitThatIsShownIsSaidToBeNotTheLast) {
  RunningServer limited(Collection(), {.port = 0, .limits = {.most_hits = 48}});
  browser().Open(limited.address() + "?words=cat");
  AwaitHits(24);
  EXPECT_FALSE(Visible("#end"));
  browser().Click("#more");
  AwaitHits(48);
  EXPECT_FALSE(Visible("#more"));
  EXPECT_EQ(Text("#end"), "These are the first 48: narrow the search to see others.");
}

TEST_F(PageTest, CountsFollowTheCollection) {
  const auto other = folder() / "changing";
  MakeAnimals(other);
  RunningServer changing(OpenAnimals(other, &gate_), {.port = 0, .refresh_seconds = 0.01});
  browser().Open(changing.address() + "?words=cat");
  AwaitText("#about", "animals · 63 items");
  auto store = Store::OpenForWriting(other / "items.cxi");
  // One that is not shown: the browser may ask for a shown one's picture still.
  store->Remove((int64_t{1} << 62) + 200);
  store->Commit();
  // Until the server has seen it.
  browser().Eval(
      "void (window.look = setInterval(() => fetch('/api/info').then((told) => told.json())"
      ".then(({items}) => { window.items = items; }), 20))");
  browser().Await("window.items === 62");
  browser().Eval("clearInterval(window.look)");
  browser().Press(keys::kEnter);
  AwaitText("#summary", "of 62,");
  AwaitText("#about", "animals · 62 items");
}

TEST_F(PageTest, CaptionsCanBeReadAndCopied) {
  Visit("/?words=cat");
  AwaitHits(24);
  const std::string at =
      "((one) => { const {x, y, width, height} = document.querySelector(one)"
      ".getBoundingClientRect();"
      "return document.elementFromPoint(x + width / 2, y + height / 2); })";
  EXPECT_EQ(browser().Eval(at + "('.caption').title"), "cat 00");
  EXPECT_EQ(browser().Eval(at + "('.distance').closest('[title]').title"),
            "Distance: the less, the nearer");
  EXPECT_EQ(browser().Eval(at + "('.hit img').tagName"), "IMG");
  // A click that ends a selection asks for nothing, any other asks for more like it.
  browser().Eval(
      "getSelection().selectAllChildren(document.querySelector('.caption')) || "
      "document.querySelector('.caption').click()");
  EXPECT_EQ(browser().Eval("location.search"), "?words=cat");
  browser().Click(".hit:nth-child(6) .caption");
  AwaitText("#asked-text", "like: cat 01");
}

TEST_F(PageTest, MoreLikeThisAndBackAndForward) {
  Visit("/?words=cat");
  AwaitHits(24);
  browser().Click("#more");
  AwaitHits(48);
  // Cats are 40; the 41st is the first dog.
  EXPECT_EQ(Caption(40), "dog 00");
  browser().Click(".hit:nth-child(41) .like");
  browser().Await("document.querySelector('.hit .caption').innerText === 'dog 00'");
  AwaitText("#asked-text", "like: dog 00");
  EXPECT_EQ(Distance(0), "0 bits");
  EXPECT_THAT(browser().Eval("location.search").get<std::string>(),
              HasSubstr("like=4611686018427388004"));  // 2^62 + 100, more than a double holds

  browser().Back();
  AwaitHits(48);  // as many as were shown
  EXPECT_EQ(Caption(0), "cat 00");
  EXPECT_EQ(browser().Eval("document.getElementById('words').value"), "cat");
  browser().Forward();
  browser().Await("document.querySelector('.hit .caption').innerText === 'dog 00'");
  EXPECT_EQ(browser().Eval("document.getElementById('words').value"), "");
}

TEST_F(PageTest, BestMatchFirstIsAskedFor) {
  Visit("/?words=cat");
  browser().Click("#rerank-switch");
  browser().Await("location.search.includes('rerank=1')");
  browser().Await("document.querySelector('.distance').innerText.includes('.')");
  // (1, 0) against (1, 0): 1 - cos = 0.  Cats 5, 13, 21, 29 and 37 have that.
  EXPECT_EQ(Caption(0), "cat 05");
  EXPECT_EQ(Distance(0), "0.000");
}

TEST_F(PageTest, AsksNobodyElse) {
  Visit("/?words=cat");
  browser().Await("document.querySelector('.hit img').complete");
  EXPECT_EQ(
      browser().Eval("performance.getEntriesByType('resource')"
                     ".filter(({name}) => !/^(blob:)?http:\\/\\/127\\.0\\.0\\.1:/.test(name) ||"
                     " new URL(name).origin !== location.origin).map(({name}) => name)"),
      json::array());
  EXPECT_GT(browser().Eval("performance.getEntriesByType('resource').length").get<int>(), 8);
}

}  // namespace
}  // namespace crossilo
