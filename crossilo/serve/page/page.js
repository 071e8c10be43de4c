// The search page: holds the question, asks it, and shows what came of it.

import * as api from './api.js';
import {count, duration, find, make} from './dom.js';
import {closePanels, drawFilters, setUpFilters} from './filters.js';
import {clearNotices, clearResults, drawFailure, drawTrouble, setUpGate} from './notices.js';
import {drawAsked, keep, recall, setUpPictures} from './picture.js';
import {addressOf, anew, asksAnything, kEmpty, kept, readQuestion, remember} from './question.js';
import {drawHits, focusHit, setUpKeys} from './results.js';
import {drawExamples} from './welcome.js';

const kPage = 24;          // fills rows of 2, 3, 4 and 6
const kTypingPause = 200;  // ms

let info = null;
let question = readQuestion();
let latest = null;   // the answer that is shown
let shown = 0;       // hits of it
let turn = 0;        // of asking: what an earlier turn brings is thrown away
let underWay = new AbortController();
let typing = false;  // whether the newest history entry is words half typed
let pause = 0;       // timer of typing; 0: nothing is typed that was not asked

// ---- asking

function change(part, how) {
  question = {...question, ...part};
  typing = false;
  remember(question, true, shown);
  ask(how);
}

function newTurn() {
  clearTimeout(pause);
  pause = 0;
  underWay.abort();
  underWay = new AbortController();
  return ++turn;
}

async function ask({hits = kPage, scroll = 0, focus = false} = {}) {
  const mine = newTurn();
  drawQuestion();
  if (!info) return;  // start() asks
  if (!asksAnything(question)) return drawWelcome();
  find('results').setAttribute('aria-busy', 'true');
  try {
    checkLimits(question.words);
    const reply = await api.search(question, recall(question.picture), 0, hits, underWay.signal);
    if (mine !== turn) return;
    drawReply(reply, false);
    scrollTo(0, scroll);
    if (focus) focusHit(0);
  } catch (error) {
    if (mine === turn) drawFailure(error, start);
  }
}

// What the server would refuse anyway, said without sending it.
function checkLimits(words) {
  const {characters, bytes} = info.limits;
  const file = recall(question.picture);
  if (words.length > characters) {
    const length = count(words.length, 'character', 'characters');
    throw new api.Refused(414, `That is ${length} long, and ${count(characters, 'is', 'are')} ` +
                               'the most: ask with fewer words.');
  }
  if (question.picture && !file) {
    throw new api.Refused(410, 'A picture is not kept when the page is loaded again: ' +
                               'choose it once more.');
  }
  if (file?.size > bytes) {
    throw new api.Refused(413, `The picture is larger than ${Math.floor(bytes / 1048576)} MiB, ` +
                               'the most that is taken: choose a smaller one.');
  }
}

async function showMore() {
  const mine = turn;
  const from = shown;
  const k = Math.min(kPage, info.limits.hits - from);
  find('more').disabled = true;
  try {
    const reply = await api.search(question, recall(question.picture), from, k, underWay.signal);
    if (mine !== turn) return;
    // Another generation has another order: these hits do not follow those.
    if (reply.generation !== latest.generation) return void ask();
    drawReply(reply, true);
    history.replaceState({...history.state, shown}, '');
    focusHit(from);
  } catch (error) {
    if (mine === turn) drawFailure(error, start);
  } finally {
    find('more').disabled = false;
  }
}

// ---- drawing

function drawQuestion() {
  const box = find('words');
  if (box.value.trim() !== question.words) box.value = question.words;
  document.title = question.words ? `${question.words.slice(0, 60)} · Crossilo` : 'Crossilo';
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
  shown = (append ? shown : 0) + reply.hits.length;
  const linkTo = (hit) => addressOf({...question, ...anew({like: hit.id, among: reply.among})});
  drawHits(reply, info.silos, question.rerank ? 0 : info.bits, linkTo, append);
  drawFilters(question, reply.among, change);
  find('summary').replaceChildren(
      make('strong', {}, count(reply.searched, 'item', 'items')),
      ` in ${duration(reply.seconds.coding + reply.seconds.search)}`,
      make('span', {}, shown ? `${count(shown, 'shown', 'shown')}, nearest first`
                             : 'nothing found'));
  find('more').hidden = !reply.more || shown >= info.limits.hits;
  if (!shown) drawNothing();
}

function drawNothing() {
  const filtered = question.silos.length + question.classes.length > 0;
  if (!filtered) return drawTrouble('Nothing found', 'Try other words, or a picture.');
  const button = make('button', {type: 'button', class: 'more'}, 'Remove the filters');
  button.addEventListener('click', () => change({silos: [], classes: []}));
  drawTrouble('Nothing found', 'No item has what the filters ask for.', button);
}

// ---- people

function askTyped() {
  const words = find('words').value.trim();
  try {
    if (info) checkLimits(words);
  } catch (error) {
    newTurn();
    return drawFailure(error, start);
  }
  if (!words && !question.words) return;  // a picture stays what is asked with
  if (words !== question.words) {
    question = {...question, ...anew({words})};
    remember(question, !typing, shown);
    typing = true;
  }
  ask();
}

function setUpBox() {
  const box = find('words');
  box.addEventListener('input', () => {
    clearTimeout(pause);
    pause = setTimeout(askTyped, kTypingPause);
  });
  find('ask').addEventListener('submit', (event) => {
    event.preventDefault();
    askTyped();
    typing = false;
  });
  // The box would cut a long text off without a word.
  box.addEventListener('paste', (event) => {
    const pasted = event.clipboardData?.getData('text') ?? '';
    if (!info || pasted.length <= info.limits.characters) return;
    event.preventDefault();
    newTurn();
    try {
      checkLimits(pasted);
    } catch (error) {
      drawFailure(error, start);
    }
  });
  find('asked-remove').addEventListener('click', () => startAnew());
}

function startAnew(filters = {}) {
  find('words').value = '';
  const next = {...question, ...anew(filters)};
  if (question.picture || addressOf(next) !== addressOf(question)) change(next);
  else ask();
  find('words').focus();
}

function setUpKeyboard() {
  setUpKeys(() => find('words').focus());
  document.addEventListener('keydown', (event) => {
    const box = find('words');
    const inText = event.target.matches('input:not([type=checkbox], [type=radio], [type=file])');
    if (event.key === '/' && !inText && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      box.focus();
      box.select();
    } else if (event.key === 'Escape' && event.target !== find('token')) {
      event.preventDefault();
      if (!closePanels(null)) startAnew();
    } else if (event.key === 'ArrowDown' && event.target === box) {
      event.preventDefault();
      focusHit(0);
    }
  });
}

// Links that this page follows itself; new tabs are the browser's.
function follow(element, selector, go) {
  element.addEventListener('click', (event) => {
    const link = event.target.closest(selector);
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    go(link);
  });
}

function setUp() {
  history.scrollRestoration = 'manual';
  setUpBox();
  setUpKeyboard();
  setUpGate(start);
  setUpPictures((file) => change(anew({picture: keep(file)})));
  find('more').addEventListener('click', showMore);
  follow(find('hits'), '.like', ({dataset}) =>
    change(anew({like: dataset.id, among: latest.among}), {focus: true}));
  follow(document, '.brand', () => startAnew(kEmpty));
  document.addEventListener('pointerdown', (event) => closePanels(event.target));
  addEventListener('popstate', () => {
    question = readQuestion();
    typing = false;
    ask({hits: Math.max(kPage, kept().shown), scroll: kept().scroll});
  });
}

// Also when the server is back, or the token has come.
async function start() {
  try {
    info = await api.info();
  } catch (error) {
    return drawFailure(error, start);
  }
  find('about').textContent = `${info.name} · ${count(info.items, 'item', 'items')}`;
  find('words').maxLength = info.limits.characters;
  find('words').disabled = !info.asks.words;
  find('choose').hidden = !info.asks.pictures;
  setUpFilters(info, () => question, change);
  if (!pause) ask({hits: Math.max(kPage, kept().shown)});
}

setUp();
start();
