// What the server would refuse anyway, said without sending it.

import {Refused} from './api.js';
import {count} from './dom.js';
import {recall} from './picture.js';

export function checkWords(words, {characters}) {
  const length = [...words].length;  // as the server counts: an emoji is one
  if (length <= characters) return;
  throw new Refused(414, `That is ${count(length, 'character', 'characters')} long, and ` +
                         `${count(characters, 'is', 'are')} the most: ask with fewer words.`);
}

export function checkPicture(key, {bytes}) {
  if (!key) return;
  const file = recall(key);
  if (!file) {
    throw new Refused(410, 'A picture is not kept when the page is loaded again: ' +
                           'choose it once more.');
  }
  if (file.size === 0) throw new Refused(400, 'This file is empty: choose another one.');
  if (file.size > bytes) {
    throw new Refused(413, `The picture is larger than ${Math.floor(bytes / 1048576)} MiB, ` +
                           'the most that is taken: choose a smaller one.');
  }
}
