// What is said of the hits as a whole.

import {duration, find, make, number} from './dom.js';
import {drawTrouble} from './notices.js';

// `limit` is how many hits the server shows of one question.
export function drawSummary(reply, shown, limit) {
  const seconds = duration(reply.seconds.coding + reply.seconds.search);
  find('summary').replaceChildren(
      ...(shown ? [make('strong', {}, `${number(shown)} nearest`), ` of ${number(reply.searched)}`]
                : [make('strong', {}, 'Nothing found')]),
      make('span', {class: 'time'}, `, searched in ${seconds}`));
  const full = shown >= limit;
  find('more').hidden = !reply.more || full;
  find('end').hidden = !reply.more || !full;
  find('end').textContent =
      `These are the first ${number(limit)}: narrow the search to see others.`;
}

export function drawNothing(filtered, removeFilters) {
  if (!filtered) return drawTrouble('Nothing found', 'Try other words, or a picture.');
  const button = make('button', {type: 'button', class: 'more'}, 'Remove the filters');
  button.addEventListener('click', removeFilters);
  drawTrouble('Nothing found', 'No item has what the filters ask for.', button);
}
