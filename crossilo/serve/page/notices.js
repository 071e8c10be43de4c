// What is shown besides hits: that something is wrong, and what to do.

import * as api from './api.js';
import {find, make} from './dom.js';
import {clearHits} from './results.js';

const kWonder = 300;  // ms until a person begins to wonder whether anything happens

let waiting = 0;

export function drawBusy() {
  find('results').setAttribute('aria-busy', 'true');
  clearTimeout(waiting);
  waiting = setTimeout(() => { find('waiting').textContent = 'Searching…'; }, kWonder);
}

function drawIdle() {
  clearTimeout(waiting);
  find('waiting').textContent = '';
  find('results').removeAttribute('aria-busy');
}

export function clearNotices() {
  drawIdle();
  for (const id of ['trouble', 'welcome', 'gate', 'gone', 'more', 'end']) find(id).hidden = true;
}

export function clearResults() {
  clearNotices();
  clearHits();
  find('summary').textContent = '';
}

export function drawTrouble(title, sentence, ...actions) {
  find('trouble').hidden = false;
  const said = make('p', {dir: 'auto'}, sentence);
  find('trouble').replaceChildren(make('h2', {}, title), said, ...actions);
}

// `start` begins again once the server is back.
export function drawFailure(error, start) {
  if (error.name === 'AbortError') return;
  drawIdle();
  if (error.status === 0 || error.status === 503) return drawGone(error.message, start, 500);
  clearResults();
  if (error.status === 401) return drawGate();
  drawTrouble(error.status ? 'That did not work' : 'This page made a mistake', error.message);
}

let retry = 0;

// What was found before stays on the screen.  `wait` is in milliseconds.
function drawGone(sentence, start, wait) {
  find('gone').hidden = false;
  find('gone').textContent = `${sentence} This page goes on trying.`;
  if (retry) return;
  retry = setTimeout(async () => {
    retry = 0;
    const back = await api.health().catch(() => null);
    if (back) start();
    else drawGone(sentence, start, Math.min(2 * wait, 4000));
  }, wait);
}

function drawGate() {
  document.body.classList.remove('start');
  find('gate-reason').textContent = api.hasToken() ? 'That token is not right.' : '';
  api.forgetToken();
  find('gate').hidden = false;
  find('token').focus();
}

export function setUpGate(start) {
  find('gate').addEventListener('submit', (event) => {
    event.preventDefault();
    // Nothing else can stand in a header.
    api.setToken(find('token').value.replace(/[^\x21-\x7e]/g, ''));
    find('token').value = '';
    find('gate').hidden = true;
    find('words').focus();
    start();
  });
}
