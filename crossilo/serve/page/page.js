// The search page: holds the question, asks it, and shows what came of it.

import * as api from './api.js';
import {isTyping, setUpBox, setUpKeyboard, stopTyping} from './box.js';
import {count, find, follow} from './dom.js';
import {closePanels, drawFilters, setUpFilters} from './filters.js';
import {checkPicture, checkWords} from './limits.js';
import {clearNotices, clearResults, drawBusy, drawFailure, setUpGate} from './notices.js';
import {copyOf, drawAsked, keep, setUpPictures} from './picture.js';
import {addressOf, anew, asksAnything, isFiltered, kEmpty, kept, readQuestion,
        remember} from './question.js';
import {drawHits, focusedHit, focusHit} from './results.js';
import {drawNothing, drawSummary} from './summary.js';
import {drawExamples} from './welcome.js';

const kPage = 24;  // fills rows of 2, 3, 4 and 6

let info = null;
let question = readQuestion();
let latest = null;    // the answer that is shown
let answered = null;  // the question it answers
let shown = 0;        // hits of it
let turn = 0;         // of asking: what an earlier turn brings is thrown away
let underWay = new AbortController();
let typing = false;   // whether the newest history entry is words half typed

// ---- asking

function change(part, how) {
  question = {...question, ...part};
  typing = false;
  remember(question, true, shown);
  ask(how);
}

function newTurn() {
  stopTyping();
  underWay.abort();
  underWay = new AbortController();
  return ++turn;
}

// `focus` is the hit that gets it.
async function ask({hits = kPage, scroll = 0, focus = -1} = {}) {
  const mine = newTurn();
  drawQuestion();
  if (!info) return;  // start() asks
  if (!asksAnything(question)) return drawWelcome();
  drawBusy();
  try {
    checkWords(question.words, info.limits);
    checkPicture(question.picture, info.limits);
    const reply = await search(0, hits);
    if (mine !== turn) return;
    drawReply(reply, false);
    scrollTo(0, scroll);
    focusHit(focus);
  } catch (error) {
    if (mine === turn) drawFailure(error, start);
  }
}

async function search(offset, k) {
  const [asked, {signal}] = [question, underWay];  // both may change while a picture is read
  return api.search(asked, await copyOf(asked.picture), offset, k, signal);
}

async function showMore() {
  const mine = turn;
  const from = shown;
  const more = find('more');
  more.disabled = true;
  try {
    const reply = await search(from, Math.min(kPage, info.limits.hits - from));
    if (mine !== turn) return;
    // Another generation has another order: these hits do not follow those.
    if (reply.generation !== latest.generation) return void ask();
    drawReply(reply, true);
    history.replaceState({...history.state, shown}, '');
    focusHit(from);
  } catch (error) {
    if (mine === turn) drawFailure(error, start);
  } finally {
    more.disabled = false;
    if (document.activeElement === document.body) more.focus({preventScroll: true});
  }
}

// ---- drawing

function drawQuestion() {
  const box = find('words');
  if (box.value.trim() !== question.words) box.value = question.words;
  document.title = question.words ? `${question.words.slice(0, 60)} · Crossilo` : 'Crossilo';
  document.body.classList.toggle('start', !asksAnything(question) && find('gate').hidden);
  drawFilters(question, question.among || (question.picture ? 'text' : 'image'), change);
  drawAsked(question);
}

function drawWelcome() {
  clearResults();
  shown = 0;
  find('welcome').hidden = false;
  drawExamples(info, (words) => change(anew({words})));
}

function drawReply(reply, append) {
  clearNotices();
  latest = reply;
  answered = question;
  shown = (append ? shown : 0) + reply.hits.length;
  const linkTo = (hit) => addressOf({...question, ...anew({like: hit.id, among: reply.among})});
  drawHits(reply, info.silos, reply.measure === 'bits' ? info.bits : 0, linkTo, append);
  drawFilters(question, reply.among, change);
  drawSummary(reply, shown, info.limits.hits);
  if (!shown) drawNothing(isFiltered(question), () => change({silos: [], classes: []}));
  keepUp(reply);
}

function drawInfo() {
  find('about').textContent = `${info.name} · ${count(info.items, 'item', 'items')}`;
  find('words').disabled = !info.asks.words;
  find('choose').hidden = !info.asks.pictures;
  setUpFilters(info, () => question, change);
}

// A collection changes while it is served, and what is said of it with it.
async function keepUp({among, generation, searched}) {
  const known = info.columns.find(({name}) => name === among)?.items;
  if (generation === info.generation && (isFiltered(question) || known === searched)) return;
  info = await api.info().catch(() => info);
  drawInfo();
}

// ---- people

function askTyped(words, done) {
  try {
    if (info) checkWords(words, info.limits);
  } catch (error) {
    newTurn();
    return drawFailure(error, start);
  }
  if (words !== question.words) {  // without words a picture stays what is asked with
    // What a picture was to find is not what words are to find.
    const among = question.picture || question.like ? '' : question.among;
    question = {...question, ...anew({words, among})};
    remember(question, !typing, shown);
    typing = true;
  }
  ask();
  if (done) typing = false;
}

function startAnew(filters = {}) {
  find('words').value = '';
  const next = {...question, ...anew(filters)};
  if (question.picture || addressOf(next) !== addressOf(question)) change(next);
  else ask();
  find('words').focus();
}

function setUpLinks() {
  const goLike = ({dataset}) =>
    change(anew({like: dataset.id, among: latest.among}), {focus: 0});
  follow(find('hits'), '.like', goLike);
  follow(find('hits'), '.caption', (caption) => {
    if (getSelection().isCollapsed) goLike(caption.previousSibling);  // or it is being copied
  });
  follow(document, '.brand', () => startAnew(kEmpty));
  // The address must not change: a picture stands only beside it.
  follow(document, '.skip', () => find('results').focus());
}

function setUp() {
  history.scrollRestoration = 'manual';
  setUpBox(askTyped);
  setUpKeyboard(startAnew);
  setUpGate(start);
  setUpPictures((file) => change(anew({picture: keep(file)})));
  setUpLinks();
  find('asked-remove').addEventListener('click', () => startAnew());
  find('more').addEventListener('click', showMore);
  for (const kind of ['pointerdown', 'focusin']) {
    document.addEventListener(kind, (event) => closePanels(event.target));
  }
  addEventListener('popstate', () => {
    question = readQuestion();
    typing = false;
    ask({hits: Math.max(kPage, kept().shown), scroll: kept().scroll});
  });
  drawQuestion();
}

// Also when the server is back, or the token has come.
async function start() {
  if (asksAnything(question)) drawBusy();
  try {
    info = await api.info();
  } catch (error) {
    return drawFailure(error, start);
  }
  drawInfo();
  if (isTyping()) return;
  if (answered !== question) return ask({hits: Math.max(kPage, kept().shown)});
  ask({hits: Math.max(kPage, shown), scroll: scrollY, focus: focusedHit()});
}

setUp();
start();
