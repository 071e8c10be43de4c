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
  EXPECT_EQ(browser().Role("#hits"), "list");
  EXPECT_EQ(browser().Role(".hit"), "listitem");
  EXPECT_EQ(browser().Role(".like"), "link");
  EXPECT_EQ(browser().Label(".like"), "More like this: cat 00");
  EXPECT_EQ(browser().Label(".hit img"), "cat 00");
  EXPECT_EQ(browser().Role("#summary"), "status");
  EXPECT_EQ(browser().Role("#rerank"), "switch");
  EXPECT_EQ(browser().Label("#rerank"), "Finer order");
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

// The contrast of two colours (WCAG 2.2), of which AA wants 4.5 for text.
constexpr char kContrast[] =
    "((element, ground) => {"
    "  const light = (color) => color.match(/[\\d.]+/g).slice(0, 3).map((v) => v / 255)"
    "    .map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)"
    "    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0.05);"
    "  const a = light(getComputedStyle(document.querySelector(element)).color);"
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
                                   {"#chips button", "#chips button"}}) {
      EXPECT_GE(browser().Eval(kContrast, {element, ground}).get<double>(), 4.5)
          << element << " in " << scheme;
    }
    bool dark =
        browser().Eval("getComputedStyle(document.body).backgroundColor") == "rgb(19, 19, 23)";
    EXPECT_EQ(dark, std::string(scheme) == "dark");
  }
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
