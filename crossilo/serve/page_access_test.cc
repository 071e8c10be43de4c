// The page without a mouse, without much room, without light, and without
// sight.  In real Chromium.

#include <gmock/gmock.h>

#include "crossilo/serve/page_fixture.h"

namespace crossilo {
namespace {

using nlohmann::json;

std::string FocusedCaption(Browser& browser) {
  return browser
      .Eval("document.activeElement.closest('.hit')?.querySelector('.caption').innerText ?? ''")
      .get<std::string>();
}

TEST_F(PageTest, KeyboardOnly) {
  ExpectRefusals();  // of examples on the first visit
  Visit("/");
  browser().Press(std::string("cat") + keys::kEnter);
  AwaitHits(24);
  // Box, file, button, what to find, silo, class, order, then the first hit.
  for (int i = 0; i < 7; ++i) browser().Press(keys::kTab);
  EXPECT_EQ(FocusedCaption(browser()), "cat 00");
  EXPECT_EQ(browser().Eval("document.activeElement.matches(':focus-visible')"), true);
  browser().Press(keys::kRight);
  EXPECT_EQ(FocusedCaption(browser()), "cat 08");
  browser().Press(keys::kDown);  // six columns at this width: hit 1 + 6
  EXPECT_EQ(FocusedCaption(browser()), Caption(7));
  browser().Press(keys::kUp);
  EXPECT_EQ(FocusedCaption(browser()), "cat 08");
  browser().Press(keys::kUp);
  EXPECT_EQ(browser().Eval("document.activeElement.id"), "words");
  browser().Press(keys::kDown);
  EXPECT_EQ(FocusedCaption(browser()), "cat 00");
  // Enter on a hit: more like it, and the focus is on the first of them.
  for (int i = 0; i < 5; ++i) browser().Press(keys::kRight);
  EXPECT_EQ(FocusedCaption(browser()), "cat 01");
  browser().Press(keys::kEnter);
  AwaitText("#asked-text", "like: cat 01");
  browser().Await("document.activeElement.matches('.hit:first-child .like')");
  EXPECT_EQ(FocusedCaption(browser()), "cat 01");
  browser().Press(keys::kEscape);
  browser().Await("document.getElementById('welcome').checkVisibility()");
  EXPECT_EQ(browser().Eval("document.activeElement.id"), "words");
  EXPECT_FALSE(Visible("#asked"));
}

TEST_F(PageTest, SlashGoesToTheBoxAndEscapeClosesAPanelFirst) {
  Visit("/?words=cat");
  AwaitHits(24);
  browser().Click("#class-filter summary");
  browser().Await("document.querySelector('#class-filter input')?.checkVisibility()");
  browser().Press(keys::kEscape);
  EXPECT_EQ(browser().Eval("document.getElementById('class-filter').open"), false);
  EXPECT_EQ(browser().Eval("document.activeElement.innerText"), "Class");
  EXPECT_EQ(Hits(), 24);
  browser().Press("/");
  EXPECT_EQ(browser().Eval("document.activeElement.id"), "words");
  EXPECT_EQ(browser().Eval("document.activeElement.value"), "cat");
}

// While characters are composed, as in Japanese, keys choose among them.
TEST_F(PageTest, KeysThatComposeAreLeftAlone) {
  Visit("/?words=cat");
  AwaitHits(24);
  for (const char* key : {"ArrowDown", "Escape"}) {
    browser().Eval(
        "document.getElementById('words').dispatchEvent(new KeyboardEvent('keydown', "
        "{key: arguments[0], isComposing: true, bubbles: true, cancelable: true}))",
        json::array({key}));
    EXPECT_EQ(browser().Eval("document.activeElement.id"), "words") << key;
    EXPECT_EQ(browser().Eval("document.getElementById('words').value"), "cat") << key;
  }
}

TEST_F(PageTest, SkippingToTheResultsKeepsThePicture) {
  Visit("/?words=cat");
  browser().Type("#file", (folder() / "dog.png").string());
  browser().Await("document.querySelector('.words .caption')?.innerText === 'dog 00'");
  browser().Eval("document.querySelector('.skip').focus()");
  browser().Press(keys::kEnter);
  EXPECT_EQ(browser().Eval("document.activeElement.id"), "results");
  EXPECT_EQ(browser().Eval("location.hash"), "");
  EXPECT_EQ(Text("#asked-text"), "dog.png");
  EXPECT_EQ(Caption(0), "dog 00");
}

TEST_F(PageTest, APanelClosesWhenTabbedOutOf) {
  Visit("/?words=cat");
  AwaitHits(24);
  browser().Eval("document.querySelector('#silo-filter summary').focus()");
  browser().Press(keys::kEnter);
  browser().Await("document.querySelectorAll('#silo-filter li').length === 3");
  for (int i = 0; i < 3; ++i) browser().Press(keys::kTab);
  EXPECT_EQ(browser().Eval("document.getElementById('silo-filter').open"), true);
  browser().Press(keys::kTab);
  EXPECT_EQ(browser().Eval("document.activeElement.innerText"), "Class");
  EXPECT_EQ(browser().Eval("document.getElementById('silo-filter').open"), false);
}

// The back button does not close the panel.
TEST_F(PageTest, TicksFollowTheFilters) {
  Visit("/?words=cat");
  browser().Click("#silo-filter summary");
  browser().Await("document.querySelectorAll('#silo-filter li').length === 3");
  browser().Click("#silo-filter li:nth-child(2) input");
  AwaitText("#summary", "of 35,");
  EXPECT_EQ(browser().Eval("document.querySelector('#silo-filter :checked').value"), "south");
  browser().Back();
  AwaitText("#summary", "of 63,");
  EXPECT_EQ(browser().Eval("document.getElementById('silo-filter').open"), true);
  EXPECT_EQ(browser().Eval("document.querySelectorAll('#silo-filter :checked').length"), 0);
}

TEST_F(PageTest, TheHeaderDoesNotCoverTheFocusedHit) {
  for (int width : {390, 1280}) {
    Resize(width, 500);
    Visit("/?words=cat");
    AwaitHits(24);
    browser().Eval("document.querySelector('.hit:last-child .like').focus()");
    for (int row = 0; row < 3; ++row) {
      browser().Press(keys::kUp);
      EXPECT_GE(browser()
                    .Eval("document.activeElement.closest('.hit').getBoundingClientRect().top - "
                          "document.querySelector('header').getBoundingClientRect().bottom")
                    .get<double>(),
                0)
          << width;
    }
  }
}

TEST_F(PageTest, NothingMovesWhenTheScrollbarComes) {
  ExpectRefusals();
  Visit("/");
  const std::string left = "document.querySelector('.brand').getBoundingClientRect().left";
  auto without = browser().Eval(left);
  browser().Press("cat");
  AwaitHits(24);
  EXPECT_EQ(browser().Eval("document.scrollingElement.scrollHeight > innerHeight"), true);
  EXPECT_EQ(browser().Eval(left), without);
}

TEST_F(PageTest, NarrowScreens) {
  ExpectRefusals();
  Resize(320, 640);
  for (const char* path :
       {"/", "/?words=cat&silo=north&class=cats&class=group+1", "/?words=odd",
        "/?words=cat&among=text", "/?words=zebra", "/?like=4611686018427387904"}) {
    Visit(path);
    EXPECT_LE(browser().Eval("document.scrollingElement.scrollWidth").get<int>(), 320) << path;
  }
  browser().Click("#class-filter summary");
  browser().Await("document.querySelector('#class-filter li')");
  EXPECT_LE(browser().Eval("document.scrollingElement.scrollWidth").get<int>(), 320);
  EXPECT_EQ(browser().Eval("getComputedStyle(document.querySelector('.silo')).textOverflow"),
            "ellipsis");
  EXPECT_EQ(
      browser().Eval("(({left, right}) => left >= 0 && right <= 320)"
                     "(document.querySelector('#class-filter .panel').getBoundingClientRect())"),
      true);
}

TEST_F(PageTest, ScreenReadersAreTold) {
  Visit("/?words=cat");
  AwaitHits(24);
  EXPECT_EQ(browser().Role("#ask"), "search");
  EXPECT_EQ(browser().Role("#words"), "searchbox");
  EXPECT_EQ(browser().Label("#words"), "Words to search with");
  EXPECT_EQ(browser().Label("#file"), "Search with a picture");
  EXPECT_EQ(browser().Role("main"), "main");
  EXPECT_EQ(browser().Role("header"), "banner");
  EXPECT_EQ(browser().Role("#results"), "region");
  EXPECT_EQ(browser().Label("#results"), "Results");
  EXPECT_EQ(browser().Eval("[...document.querySelectorAll('h1, h2')].filter((one) => "
                           "one.checkVisibility()).map((one) => one.tagName + one.innerText)"),
            (json{"H1Crossilo", "H2Results"}));
  EXPECT_EQ(browser().Role("#hits"), "list");
  EXPECT_EQ(browser().Role(".hit"), "listitem");
  EXPECT_EQ(browser().Role(".like"), "link");
  EXPECT_EQ(browser().Label(".like"), "More like this: cat 00");
  EXPECT_EQ(browser().Label(".hit img"), "cat 00");
  EXPECT_EQ(browser().Role("#summary"), "status");
  EXPECT_EQ(browser().Role("#rerank"), "switch");
  EXPECT_EQ(browser().Label("#rerank"), "Best match first");
  EXPECT_EQ(browser().Label("#among"), "What to find");
  EXPECT_EQ(browser().Eval("[...document.images].filter((img) => !img.hasAttribute('alt')).length"),
            0);
  EXPECT_EQ(browser().Eval("document.documentElement.lang"), "en");

  std::string before = Text("#summary");
  browser().Click("#more");
  AwaitHits(48);
  EXPECT_NE(Text("#summary"), before);  // which is a live region: it is read out
}

TEST_F(PageTest, OtherScriptsGoTheirWay) {
  Visit("/?words=odd");
  EXPECT_EQ(Caption(1), "חתול מחייך");
  EXPECT_EQ(Caption(2), "微笑的猫");
  EXPECT_EQ(browser().Eval("[...document.querySelectorAll('.hit .caption')].slice(1, 3)"
                           ".map((p) => getComputedStyle(p).direction)"),
            (json{"rtl", "ltr"}));
}

// The contrast of a colour of an element and its ground (WCAG 2.2), of which AA
// wants 4.5 for text and 3 for what shows where a control is.
constexpr char kContrast[] =
    "((element, ground, what) => {"
    "  const light = (color) => color.match(/[\\d.]+/g).slice(0, 3).map((v) => v / 255)"
    "    .map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)"
    "    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0.05);"
    "  const a = light(getComputedStyle(document.querySelector(element))[what]);"
    "  const b = light(getComputedStyle(document.querySelector(ground)).backgroundColor);"
    "  return Math.max(a, b) / Math.min(a, b); })(...arguments)";

TEST_F(PageTest, LightAndDarkCanBeRead) {
  for (const char* scheme : {"light", "dark"}) {
    json wanted = {{"name", "prefers-color-scheme"}, {"value", scheme}};
    browser().Command("Emulation.setEmulatedMedia", {{"features", json::array({wanted})}});
    Visit("/?words=cat&silo=north");
    for (auto [element, ground] : {std::pair{".caption", ".hit"},
                                   {".meta", ".hit"},
                                   {"#summary", "body"},
                                   {"#about", "body"},
                                   {".go", ".go"},
                                   {"#words", ".box"},
                                   {"#among :checked + span", "#among :checked + span"},
                                   {"#chips button", "#chips button"}}) {
      EXPECT_GE(browser().Eval(kContrast, {element, ground, "color"}).get<double>(), 4.5)
          << element << " in " << scheme;
    }
    for (auto [element, what] : {std::pair{".box", "borderTopColor"},
                                 {"#class-filter summary", "borderTopColor"},
                                 {"#among", "boxShadow"},
                                 {"#among :checked + span", "boxShadow"},
                                 {".track", "backgroundColor"}}) {
      EXPECT_GE(browser().Eval(kContrast, {element, "body", what}).get<double>(), 3)
          << element << " in " << scheme;
    }
    browser().Eval("document.querySelector('.hit img').dispatchEvent(new Event('error'))");
    EXPECT_GE(browser().Eval(kContrast, {".missing", ".tile", "color"}).get<double>(), 4.5)
        << scheme;
    bool dark =
        browser().Eval("getComputedStyle(document.body).backgroundColor") == "rgb(19, 19, 23)";
    EXPECT_EQ(dark, std::string(scheme) == "dark");
  }
  browser().Command("Emulation.setEmulatedMedia", {{"features", json::array()}});
}

// The browser paints in the user's few colours, without shadows or backgrounds.
TEST_F(PageTest, ForcedColoursShowWhatIsChosenAndFocused) {
  json wanted = {{"name", "forced-colors"}, {"value", "active"}};
  browser().Command("Emulation.setEmulatedMedia", {{"features", json::array({wanted})}});
  Visit("/?words=cat");
  AwaitHits(24);
  auto style = [&](const std::string& element, const std::string& what) {
    return browser().Eval("getComputedStyle(document.querySelector(arguments[0]))[arguments[1]]",
                          {element, what});
  };
  EXPECT_EQ(style(".hit", "borderTopStyle"), "solid");
  EXPECT_EQ(style(".track", "borderTopStyle"), "solid");
  EXPECT_NE(style("#among :checked + span", "backgroundColor"), style("body", "backgroundColor"));
  EXPECT_EQ(style(".box", "outlineStyle"), "solid");  // it has the focus
  browser().Press(keys::kDown);
  EXPECT_EQ(style(".hit", "outlineStyle"), "solid");
  browser().Command("Emulation.setEmulatedMedia", {{"features", json::array()}});
}

// A picture that comes late must not push what is being read.
TEST_F(PageTest, NothingJumpsWhenPicturesCome) {
  Visit("/?words=cat");
  browser().Await(
      "[...document.querySelectorAll('.hit img')].slice(0, 6).every((img) => img.complete)");
  EXPECT_EQ(
      browser().Eval(
          "[...document.querySelectorAll('.hit img')].every((img) => img.loading === 'lazy')"),
      true);
  // 4 : 3 whether there is a picture in it or not.
  EXPECT_NEAR(browser()
                  .Eval("(({width, height}) => width / height)"
                        "(document.querySelector('.hit:last-child .tile').getBoundingClientRect())")
                  .get<double>(),
              4.0 / 3, 0.02);
}

}  // namespace
}  // namespace crossilo
