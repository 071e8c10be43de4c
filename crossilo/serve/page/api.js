// All that is said to the server, and nothing else is said to anyone.

import {toParameters} from './question.js';

// status 0: no answer came at all.
export class Refused extends Error {
  constructor(status, sentence) {
    super(sentence);
    this.status = status;
  }
}

// The token lives as long as the tab, and in no cookie, so no other site can use it.
const kToken = 'crossilo-token';
export const hasToken = () => sessionStorage.getItem(kToken) !== null;
export const setToken = (token) => sessionStorage.setItem(kToken, token);
export const forgetToken = () => sessionStorage.removeItem(kToken);

async function call(path, read, options = {}) {
  const headers = {...options.headers};
  if (hasToken()) headers.Authorization = `Bearer ${sessionStorage.getItem(kToken)}`;
  try {
    const response = await fetch(path, {...options, headers});
    if (response.ok) return await read(response);
    const told = await response.json().catch(() => ({}));
    throw new Refused(response.status, told.error || `The server answered ${response.status}.`);
  } catch (error) {
    if (error instanceof Refused || error.name === 'AbortError') throw error;
    throw new Refused(0, 'The server does not answer.');
  }
}

const json = (response) => response.json();

export const health = () => call('/healthz', json);
export const info = () => call('/api/info', json);
export const item = (id) => call(`/api/items/${encodeURIComponent(id)}`, json);
export const pictureBytes = (path) => call(path, (response) => response.blob());

// Servers and proxies cut off addresses at 8,000 bytes, and 1,000 characters of
// Chinese take 9,000: a long question goes in the body.
const kLongAddress = 2000;
const kTypes = ['image/png', 'image/jpeg', 'image/webp'];

// `picture` is a Blob, or null where the question has words or an item.
export function search(question, picture, offset, k, signal) {
  const parameters = toParameters(question);
  parameters.set('offset', offset);
  parameters.set('k', k);
  const path = `/api/search?${parameters}`;
  if (picture) {
    const type = kTypes.includes(picture.type) ? picture.type : 'application/octet-stream';
    const headers = {'Content-Type': type};
    return call(path, json, {method: 'POST', headers, body: picture, signal});
  }
  if (path.length <= kLongAddress) return call(path, json, {signal});
  const {words, like, silos, classes, among, rerank} = question;
  const body = {offset, k, silos, classes, rerank};
  if (words) body.words = words;
  if (like) body.like = like;
  if (among) body.among = among;
  const headers = {'Content-Type': 'application/json'};
  return call('/api/search', json, {method: 'POST', headers, body: JSON.stringify(body), signal});
}
