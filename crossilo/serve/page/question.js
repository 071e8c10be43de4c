// What is asked, and where it stands: in the address, so that it can be sent on
// and gone back to; what is too long for one, or a picture, in the history
// entry beside it.

export const kEmpty = {words: '', like: '', picture: '', silos: [], classes: [], among: '',
                       rerank: false};

// A part that asks something else; filters stay.
export const anew = (part) => ({words: '', like: '', picture: '', among: '', ...part});

export const asksAnything = ({words, like, picture}) => Boolean(words || like || picture);
export const isFiltered = ({silos, classes}) => silos.length + classes.length > 0;

// The page's address and the server's have the same parameters.
export function toParameters(question) {
  const parameters = new URLSearchParams();
  if (question.words) parameters.set('words', question.words);
  if (question.like) parameters.set('like', question.like);
  for (const silo of question.silos) parameters.append('silo', silo);
  for (const name of question.classes) parameters.append('class', name);
  if (question.among) parameters.set('among', question.among);
  if (question.rerank) parameters.set('rerank', '1');
  return parameters;
}

export function addressOf(question) {
  const parameters = toParameters(question).toString();
  const short = parameters.length <= 2000 ? parameters : toParameters({...question, words: ''});
  return `/?${short}`.replace(/\?$/, '');
}

export function readQuestion() {
  if (history.state?.question) return history.state.question;
  const at = new URLSearchParams(location.search);
  return {...kEmpty, words: at.get('words') ?? '', like: at.get('like') ?? '',
          silos: at.getAll('silo'), classes: at.getAll('class'), among: at.get('among') ?? '',
          rerank: at.get('rerank') === '1'};
}

// A new entry, or the newest one changed.  An entry that is left keeps how many
// hits it showed, and where.
export function remember(question, push, shown) {
  if (push) {
    history.replaceState({...history.state, scroll: scrollY, shown}, '');
    history.pushState({question}, '', addressOf(question));
  } else {
    history.replaceState({question}, '', addressOf(question));
  }
}

export const kept = () => ({shown: history.state?.shown ?? 0, scroll: history.state?.scroll ?? 0});
