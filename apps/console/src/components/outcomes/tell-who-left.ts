import { problemOf } from '../../api/problem.ts';
import { notify } from './notices.tsx';
import { fieldName, wordsOf } from './problem-words.ts';

/** What the page that one is on is called. */
export const pageTitle = (): string => document.title.replace(/ · Weir$/, '');

/** Tells a refusal to whoever has left the page of this title, where it would have stood at what was sent. */
export function tellWhoLeft(title: string, error: unknown): void {
  const { said, fields } = wordsOf(problemOf(error));
  // What is said of it all needs no field.
  const atFields = fields.map(({ path, message }) =>
    path === '' || message === said ? message : `${fieldName(path)}: ${message}`,
  );
  notify(`You left “${title}” while it was being sent. ${atFields.join(' ') || said}`, 'bad');
}
