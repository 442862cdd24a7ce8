// What the document says of ETags: of every GET that has one, and of every PATCH, which takes it in If-Match.

import { addParameter, addProblem, urlOf, type Operation, type Paths } from './openapi-operations.ts';
import type { Tagged } from '../writing/versions.ts';

const ETAG = {
  description: 'Names what was answered, for If-Match of a PATCH. Members that change by themselves are not in it.',
  schema: { type: 'string' },
};

const header = (name: string, description: string) => ({
  in: 'header',
  name,
  required: false,
  description,
  schema: { type: 'string' },
});

const IF_NONE_MATCH = header(
  'if-none-match',
  'An ETag that was answered before: where it is still so, the answer is 304.',
);

const IF_MATCH = header(
  'if-match',
  'The ETag that a GET of it answered, with its quotes: where somebody has changed it since, nothing is done, and the answer ' +
    'is 412. Of a charge or a feature of a plan it is that of the plan. Without it the change is made in any case.',
);

/** Adds all of it to the paths of a document. */
export function tellOfVersions(paths: Paths, tagged: ReadonlyMap<string, Tagged>): void {
  for (const [path, { get, patch }] of Object.entries(paths)) {
    const { isWhole, isOfPatch } = tagged.get(urlOf(path)) ?? {};
    if (get !== undefined && isWhole !== undefined) tellOfGet(get, isWhole);
    if (patch === undefined || isOfPatch === undefined) continue;
    addParameter(patch, IF_MATCH);
    addProblem(patch, 'precondition_failed');
    if (isOfPatch) addTag(patch, '200');
  }
}

function tellOfGet(get: Operation, isWhole: boolean): void {
  addTag(get, '200');
  if (!isWhole) return;
  addParameter(get, IF_NONE_MATCH);
  get.responses['304'] = { description: 'Not Modified' };
  addTag(get, '304');
}

function addTag({ responses }: Operation, status: string): void {
  const response = responses[status];
  if (response !== undefined) response.headers = { ...response.headers, ETag: ETAG };
}
