// The box for words, and the keys that work everywhere.

import {find} from './dom.js';
import {closePanels} from './filters.js';
import {focusHit, setUpKeys} from './results.js';

const kTypingPause = 200;  // ms

let pause = 0;  // timer of typing; 0: nothing is typed that was not asked

export const isTyping = () => pause !== 0;

export function stopTyping() {
  clearTimeout(pause);
  pause = 0;
}

// `ask(words, done)` gets what stands in the box; `done`: Enter was pressed.
export function setUpBox(ask) {
  const send = (done) => {
    stopTyping();
    ask(find('words').value.trim(), done);
  };
  find('words').addEventListener('input', () => {
    clearTimeout(pause);
    pause = setTimeout(() => send(false), kTypingPause);
  });
  find('ask').addEventListener('submit', (event) => {
    event.preventDefault();
    send(true);
  });
}

export function setUpKeyboard(startAnew) {
  const box = find('words');
  setUpKeys(() => box.focus());
  document.addEventListener('keydown', (event) => {
    if (event.isComposing) return;  // these keys choose among characters now
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
