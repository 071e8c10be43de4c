// The first visit: what can be found here, in the collection's own words.

import * as api from './api.js';
import {find, make, show} from './dom.js';
import {kEmpty} from './question.js';

// One item of each of a few classes, large ones and small ones.
export async function drawExamples(info, choose) {
  if (!info.asks.words || find('examples').children.length) return;
  const names = info.classes.filter(({name}) => /\p{L}{3}/u.test(name))
                    .sort((a, b) => b.items - a.items).map(({name}) => name);
  const some = [0, 1, 2, 3, 4, 5].map((i) => names[Math.floor(i * names.length / 6)]);
  const found = await Promise.all([...new Set(some)].filter(Boolean).map((name) => {
    const question = {...kEmpty, words: name, classes: [name], among: 'image'};
    return api.search(question, null, 0, 1).then(({hits}) => hits[0], () => null);
  }));
  find('examples').replaceChildren(...found.filter((hit) => hit?.caption).map((hit) => {
    const img = make('img', {alt: '', width: 36, height: 36});
    const button = make('button', {type: 'button'}, img, make('span', {dir: 'auto'}, hit.caption));
    if (!show(img, hit.picture || '')) img.remove();
    button.addEventListener('click', () => choose(hit.caption));
    return make('li', {}, button);
  }));
}
