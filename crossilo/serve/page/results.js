// Hits as a grid of pictures or a list of words, and the way through them by keyboard.

import {find, make, show} from './dom.js';

// Half of the bits differ between codes that have nothing in common, and their
// cosine is 0: the bar is empty there, and full where nothing differs.  `bits`
// is 0 where the distance is 1 - cosine.
function distanceOf(distance, bits) {
  const share = 1 - distance / (bits ? bits / 2 : 1);
  const bar = make('span', {class: 'near', 'aria-hidden': 'true'});
  bar.style.setProperty('--near', Math.min(1, Math.max(0.02, share)));
  const text = !bits ? distance.toFixed(3) : `${distance} ${distance === 1 ? 'bit' : 'bits'}`;
  return make('span', {class: 'distance', title: 'Distance: the less, the nearer'}, bar, text);
}

function picture(hit) {
  const tile = make('div', {class: 'tile'});
  const missing = () => tile.replaceChildren(
      make('span', {class: 'missing', role: 'img', 'aria-label': hit.caption || hit.name}, '–'));
  const img = make('img', {alt: hit.caption || hit.name, loading: 'lazy', decoding: 'async',
                           width: 64, height: 64, draggable: 'false'});
  img.addEventListener('error', missing);
  // Icons keep some air; photographs fill their tile.
  img.addEventListener('load', () => tile.classList.toggle('photo', img.naturalWidth > 320));
  if (show(img, hit.picture || '')) tile.append(img);
  else missing();
  return tile;
}

function badge() {
  const glass = find('glass').cloneNode(true);
  glass.removeAttribute('id');
  return make('span', {class: 'badge'}, glass, make('span', {}, 'More like this'));
}

function card(hit, silos, bits, linkTo) {
  const caption = hit.caption || hit.name;
  const silo = make('span', {class: 'silo', dir: 'auto', title: hit.silo}, hit.silo);
  const place = silos.findIndex((known) => known.name === hit.silo);
  silo.style.setProperty('--hue', 250 + place * 137.5);  // the golden angle: neighbours differ most
  // Words stand outside of the link, so that they can be marked and copied.
  const like = make('a', {class: 'like', href: linkTo(hit), tabindex: '-1',
                          'aria-label': `More like this: ${caption}`},
                    picture(hit), badge());
  like.dataset.id = hit.id;
  return make('li', {class: 'hit'}, like,
              make('p', {class: 'caption', dir: 'auto', title: caption}, caption),
              make('p', {class: 'meta'}, silo, distanceOf(hit.distance, bits)));
}

const links = () => [...find('hits').querySelectorAll('.like')];

// One tab stop for all hits; arrows move it.
function point(link) {
  for (const other of links()) other.tabIndex = other === link ? 0 : -1;
}

export function focusHit(index) {
  const link = links()[index];
  if (link) {
    point(link);
    link.focus();
  }
}

export const focusedHit = () => links().indexOf(document.activeElement);

// `silos` as the server lists them; `linkTo(hit)` asks for more like it.
export function drawHits(reply, silos, bits, linkTo, append) {
  const list = find('hits');
  if (!append) list.replaceChildren();
  list.classList.toggle('words', reply.among === 'text');
  list.append(...reply.hits.map((hit) => card(hit, silos, bits, linkTo)));
  if (!append && reply.hits.length) point(links()[0]);
}

export const clearHits = () => find('hits').replaceChildren();

function columns(all) {
  const top = all[0].closest('.hit').offsetTop;
  const next = all.findIndex((link) => link.closest('.hit').offsetTop !== top);
  return next < 0 ? all.length : next;
}

// `leave` is called where the way leads up out of the grid.
export function setUpKeys(leave) {
  find('hits').addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const all = links();
    const at = focusedHit();
    if (at < 0) return;
    const row = columns(all);
    const steps = {ArrowRight: 1, ArrowLeft: -1, ArrowDown: row, ArrowUp: -row,
                   Home: -at, End: all.length - 1 - at};
    if (!(event.key in steps)) return;
    event.preventDefault();
    const to = at + steps[event.key];
    if (event.key === 'ArrowUp' && to < 0) leave();
    else focusHit(Math.min(all.length - 1, Math.max(0, to)));
  });
  find('hits').addEventListener('focusin', (event) => {
    if (event.target.matches('.like')) point(event.target);
  });
}
