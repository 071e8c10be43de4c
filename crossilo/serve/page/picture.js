// A picture to ask with: dropped anywhere, pasted, or chosen.

import * as api from './api.js';
import {find, show} from './dom.js';

// `take(file)` gets it, whatever it is: whether it is a picture the server says.
export function setUpPictures(take) {
  find('file').addEventListener('change', (event) => {
    const [file] = event.target.files;
    event.target.value = '';  // so that the same file can be chosen again
    if (file) take(file);
  });
  document.addEventListener('paste', (event) => {
    const [file] = event.clipboardData?.files ?? [];
    if (!file) return;
    event.preventDefault();
    take(file);
  });
  const hasFile = (event) => event.dataTransfer?.types.includes('Files');
  const lit = (on) => document.body.classList.toggle('dragging', on);
  for (const kind of ['dragenter', 'dragover']) {
    document.addEventListener(kind, (event) => {
      if (!hasFile(event)) return;
      event.preventDefault();
      lit(true);
    });
  }
  document.addEventListener('dragleave', (event) => event.relatedTarget === null && lit(false));
  document.addEventListener('drop', (event) => {
    lit(false);
    if (!hasFile(event)) return;
    event.preventDefault();  // or the browser would leave the page for the file
    const [file] = event.dataTransfer.files;
    if (file) take(file);
  });
}

// Pictures that were asked with, for the back button; not kept over a reload.
const kept = new Map();
const copies = new Map();

export function keep(file) {
  const key = `${Date.now()}-${kept.size}`;
  kept.set(key, file);
  return key;
}

export const recall = (key) => kept.get(key) ?? null;

// What is sent is a copy: a file that has changed on the disk since it was
// chosen cannot be sent, which looks as if the server were gone.
export async function copyOf(key) {
  const file = recall(key);
  if (!file || copies.has(key)) return copies.get(key) ?? null;
  try {
    copies.set(key, new Blob([await file.arrayBuffer()], {type: file.type}));
  } catch {
    throw new api.Refused(410, `The file “${file.name}” cannot be read: choose it once more, ` +
                               'or another one.');
  }
  return copies.get(key);
}

// What stands in the box instead of words: the picture, or an item that others
// shall be like.
export function drawAsked(question) {
  const asked = find('asked');
  const other = question.like || question.picture;
  asked.hidden = !other;
  find('words').placeholder = other ? 'Or type words' : 'Type words, or drop a picture';
  if (!other || asked.dataset.of === other) return;
  asked.dataset.of = other;
  const img = find('asked-picture');
  URL.revokeObjectURL(img.src);
  img.hidden = true;
  img.onload = () => { img.hidden = false; };
  const file = recall(question.picture);
  find('asked-text').textContent = file?.name || 'like this';
  if (file) img.src = URL.createObjectURL(file);
  if (question.like) drawAskedItem(asked, img, question.like);
}

async function drawAskedItem(asked, img, id) {
  const item = await api.item(id).catch(() => null);  // the search tells why it is not there
  if (!item || asked.dataset.of !== id) return;
  find('asked-text').textContent = `like: ${item.caption || item.name}`;
  show(img, item.picture || '');
}
