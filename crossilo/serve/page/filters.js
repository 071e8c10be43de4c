// What narrows a search: silos, classes, what to find, and the order.

import {find, make, number} from './dom.js';

const kShown = 200;  // of thousands of classes; the rest is found by typing

// `known` are [{name, items}]; `chosen()` the names that are; `choose(name, on)` changes that.
function setUpPanel(details, known, chosen, choose) {
  const [box, list, note] = details.querySelectorAll('input, ul, .panel > p');
  const what = box.placeholder.replace('Find a ', '');
  details.hidden = known.length < 2;
  box.hidden = known.length <= 8;
  const draw = () => {
    const part = box.value.trim().toLowerCase();
    const fitting = known.filter((one) => one.name.toLowerCase().includes(part));
    list.replaceChildren(...fitting.slice(0, kShown).map(({name, items}) => {
      const tick = make('input', {type: 'checkbox', value: name});
      tick.checked = chosen().includes(name);
      tick.addEventListener('change', () => choose(name, tick.checked));
      const label = make('span', {class: 'name', dir: 'auto'}, name);
      const amount = make('span', {class: 'items'}, number(items));
      return make('li', {}, make('label', {}, tick, label, amount));
    }));
    const hidden = fitting.length - kShown;
    note.textContent = !fitting.length ? `No ${what} has this name.`
        : hidden > 0 ? `And ${number(hidden)} more: type to find them.` : '';
  };
  box.oninput = draw;
  details.ontoggle = () => {
    if (!details.open) return;
    box.value = '';
    draw();
    if (!box.hidden) box.focus();
  };
}

const kColumns = {image: 'Pictures', text: 'Words'};

function setUpAmong(info, change) {
  const fieldset = find('among');
  const names = info.columns.map(({name}) => name).join();
  if (fieldset.dataset.names === names) return;  // one of them may have the focus
  fieldset.dataset.names = names;
  fieldset.hidden = info.columns.length < 2;
  fieldset.replaceChildren(fieldset.querySelector('legend'), ...info.columns.map(({name}) => {
    const radio = make('input', {type: 'radio', name: 'among', value: name});
    radio.addEventListener('change', () => change({among: name}));
    return make('label', {}, radio, make('span', {}, kColumns[name] || name));
  }));
}

// `question()` is the one that is asked now, `change(part)` asks it with a part of it changed.
export function setUpFilters(info, question, change) {
  const toggled = (names, name, on) =>
    names.filter((other) => other !== name).concat(on ? [name] : []);
  setUpPanel(find('silo-filter'), info.silos, () => question().silos,
             (name, on) => change({silos: toggled(question().silos, name, on)}));
  setUpPanel(find('class-filter'), info.classes, () => question().classes,
             (name, on) => change({classes: toggled(question().classes, name, on)}));
  setUpAmong(info, change);
  find('rerank-switch').hidden = !info.rerank;
  find('rerank').onchange = () => change({rerank: find('rerank').checked});
  find('tools').hidden = false;
}

export function drawFilters(question, among, change) {
  const chip = (kind, key, name) => {
    const button = make('button', {type: 'button', 'aria-label': `Remove ${kind} ${name}`},
                        make('span', {dir: 'auto'}, name),
                        make('span', {'aria-hidden': 'true'}, '×'));
    button.addEventListener('click', () => {
      change({[key]: question[key].filter((other) => other !== name)});
      (find('chips').querySelector('button') || find('words')).focus();
    });
    return make('li', {}, button);
  };
  find('chips').replaceChildren(...question.silos.map((name) => chip('silo', 'silos', name)),
                                ...question.classes.map((name) => chip('class', 'classes', name)));
  for (const radio of find('among').querySelectorAll('input')) {
    radio.checked = radio.value === among;
  }
  find('rerank').checked = question.rerank;
  drawTicks(find('silo-filter'), question.silos);
  drawTicks(find('class-filter'), question.classes);
}

function drawTicks(details, chosen) {
  details.classList.toggle('on', chosen.length > 0);
  for (const tick of details.querySelectorAll('li input')) {
    tick.checked = chosen.includes(tick.value);
  }
}

// A panel closes by itself once something else is meant.  True where one was open.
export function closePanels(except) {
  let closed = false;
  for (const details of document.querySelectorAll('details.filter[open]')) {
    if (details.contains(except)) continue;
    if (details.contains(document.activeElement)) details.querySelector('summary').focus();
    details.open = false;
    closed = true;
  }
  return closed;
}
