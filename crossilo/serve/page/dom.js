// Elements are made here, and text only ever enters them as text: a caption
// with markup in it is shown as it stands.

import * as api from './api.js';

export const find = (id) => document.getElementById(id);

export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

const format = new Intl.NumberFormat('en');
export const number = (value) => format.format(value);
export const count = (value, one, many) => `${number(value)} ${value === 1 ? one : many}`;

// "0.4 ms", "12 ms", "1.3 s".
export function duration(seconds) {
  if (seconds >= 1) return `${seconds.toFixed(1)} s`;
  const ms = seconds * 1000;
  return ms < 0.1 ? 'under 0.1 ms' : `${ms.toFixed(ms < 10 ? 1 : 0)} ms`;
}

// An <img> sends no token, so where there is one the bytes are fetched, each
// picture when it comes near the screen.
const nearScreen = new IntersectionObserver((entries) => {
  for (const {isIntersecting, target} of entries) {
    if (!isIntersecting) continue;
    nearScreen.unobserve(target);
    api.pictureBytes(target.dataset.path).then((bytes) => {
      target.src = URL.createObjectURL(bytes);
      target.addEventListener('load', () => URL.revokeObjectURL(target.src), {once: true});
    }, () => target.dispatchEvent(new Event('error')));
  }
}, {rootMargin: '400px'});

// Fills an <img>; only the server's own pictures, whatever an answer says.
export function show(img, path) {
  if (!/^\/api\/pictures\/\d+$/.test(path)) return false;
  img.dataset.path = path;
  if (api.hasToken()) nearScreen.observe(img);
  else img.src = path;
  return true;
}

// Links that this page follows itself; new tabs are the browser's.
export function follow(element, selector, go) {
  element.addEventListener('click', (event) => {
    const link = event.target.closest(selector);
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    go(link);
  });
}
