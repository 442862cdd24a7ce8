// Finds what a client of a released document would stumble over in another one. What is promised: docs/releases.md, The API.
//
// A schema is looked at from the side of the client: what it may send has to be taken for ever, and what it is answered has to stay
// readable by what it was written for. New operations, fields, parameters that may be left out, codes and values are no break.

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];

/** Bounds of what is sent, by whether more or less of them takes more. */
const LOWER = ['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties'];
const UPPER = ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties'];

/** Codes that refuse writes alone, which 1.0.0 told of some reads, too. */
const OF_WRITES = ['malformed_json', 'cross_origin', 'payload_too_large', 'unsupported_media_type'];

/** Each is a line for a person: where, and what is no longer as it was released. */
export function findBreakingChanges(released, now) {
  const found = new Set();
  for (const [path, item] of Object.entries(released.paths))
    for (const method of METHODS) {
      const before = item[method];
      if (before === undefined) continue;
      const comparison = new Comparison(released, now, `${method.toUpperCase()} ${path}`, found);
      const after = now.paths[path]?.[method];
      if (after === undefined) comparison.tell('', 'is no longer there');
      else comparison.operation(before, after);
    }
  for (const [type, { post: before }] of Object.entries(released.webhooks ?? {})) {
    const comparison = new Comparison(released, now, `webhook ${type}`, found);
    const after = now.webhooks?.[type]?.post;
    if (after === undefined) comparison.tell('', 'is no longer there');
    else comparison.webhook(before, after);
  }
  return [...found];
}

/** 1.0.0 told nothing of roles and scopes; what a later release tells of them stays. */
function isAsOpen(after, before) {
  const untold = Object.keys(before).filter((scheme) => before[scheme].length === 0 && scheme in after);
  return isDeepEqual({ ...after, ...Object.fromEntries(untold.map((scheme) => [scheme, []])) }, before);
}

class Comparison {
  constructor(released, now, name, found) {
    Object.assign(this, { released, now, name, found, compared: new Set(), taken: new Set() });
  }

  tell(at, what) {
    this.found.add(`${this.name}${at} ${what}`);
  }

  operation(before, after) {
    if (before.operationId !== after.operationId) this.tell('', `is no longer called ${before.operationId}`);
    for (const scheme of before.security ?? [])
      if (!(after.security ?? []).some((each) => isAsOpen(each, scheme)))
        this.tell('', `is no longer open with ${Object.keys(scheme).join(' and ')}`);
    this.taken = new Set((before.parameters ?? []).map(({ name }) => name));
    this.parameters(before.parameters ?? [], after.parameters ?? []);
    this.body(before.requestBody, after.requestBody);
    for (const [status, answer] of Object.entries(before.responses)) {
      const next = after.responses[status];
      for (const header of Object.keys(answer.headers ?? {}))
        if (next !== undefined && next.headers?.[header] === undefined)
          this.tell(` → ${status} header ${header}`, 'is no longer there');
      // Whatever is refused, with whatever code, has the one shape of a problem.
      if (status.startsWith('2')) this.contents(answer, next, ` → ${status}`, 'answered');
      else this.codes(codesOf(answer), codesOf(next), ` → ${status}`);
    }
  }

  codes(before, after, at) {
    const isRead = this.name.startsWith('GET ');
    for (const code of before)
      if (!after.includes(code) && !(isRead && OF_WRITES.includes(code))) this.tell(at, `is no longer ${code}`);
  }

  /** What is sent to a receiver is read by it, as an answer is by a client. */
  webhook(before, after) {
    for (const { in: place, name } of before.parameters ?? [])
      if (!(after.parameters ?? []).some((each) => each.in === place && each.name === name))
        this.tell(` ${place} ${name}`, 'is no longer sent');
    this.contents(before.requestBody, after.requestBody, ' body', 'answered');
  }

  parameters(before, after) {
    const nameOf = (parameter) => `${parameter.in} ${parameter.name}`;
    const known = new Map(before.map((parameter) => [nameOf(parameter), parameter]));
    for (const parameter of after) {
      const name = nameOf(parameter);
      const was = known.get(name);
      known.delete(name);
      if (parameter.required === true && was?.required !== true) this.tell(` ${name}`, 'has to be sent');
      if (was !== undefined) this.schema(was.schema, parameter.schema, ` ${name}`, 'sent');
    }
    for (const name of known.keys()) this.tell(` ${name}`, 'is no longer taken');
  }

  body(before, after) {
    if (before === undefined) {
      if (after?.required === true) this.tell(' body', 'has to be sent');
      return;
    }
    if (after?.required === true && before.required !== true) this.tell(' body', 'has to be sent');
    this.contents(before, after, ' body', 'sent');
  }

  contents(before, after, at, direction) {
    if (after === undefined) return this.tell(at, 'is no longer there');
    for (const [type, { schema }] of Object.entries(before.content ?? {})) {
      const content = after.content?.[type];
      if (content === undefined) this.tell(at, `is no longer ${type}`);
      else if (schema !== undefined) this.schema(schema, content.schema ?? {}, at, direction);
    }
  }

  schema(before, after, at, direction) {
    const pair = `${before.$ref ?? ''} ${after.$ref ?? ''} ${direction}`;
    if (before.$ref !== undefined && after.$ref !== undefined) {
      if (this.compared.has(pair)) return;
      this.compared.add(pair);
    }
    const olds = variantsOf(this.released, before);
    const news = variantsOf(this.now, after).filter((variant) => direction === 'sent' || this.mayCome(variant));
    // What is sent has to fit something that is taken; what is answered has to be something that is known.
    const [each, others] = direction === 'sent' ? [olds, news] : [news, olds];
    for (const one of each) {
      const comparisons = others.map((other) => {
        const trial = new Comparison(this.released, this.now, this.name, new Set());
        trial.compared = new Set(this.compared);
        trial.taken = this.taken;
        const [old, next] = direction === 'sent' ? [one, other] : [other, one];
        trial.variant(old, next, at, direction);
        return trial;
      });
      const best = comparisons.toSorted((a, b) => a.found.size - b.found.size)[0];
      for (const line of best?.found ?? []) this.found.add(line);
    }
  }

  /** Whether a client of the release may be answered it: not what comes only with parameters that the operation did not take then. */
  mayCome({ 'x-only-with': parameters }) {
    return parameters === undefined || parameters.some((name) => this.taken.has(name));
  }

  /** Two schemas without alternatives. */
  variant(before, after, at, direction) {
    const isSent = direction === 'sent';
    const [given, fit] = isSent ? [before, after] : [after, before];
    if (fit.type !== undefined && !(given.type === fit.type || (given.type === 'integer' && fit.type === 'number')))
      return this.tell(
        at,
        isSent ? `takes no ${before.type ?? 'other type'} any more` : `may be ${after.type ?? 'anything'}`,
      );
    if (isSent) this.bounds(before, after, at);
    // What is left out is null where nothing else is said.
    const [value, newValue] = [before.default ?? null, after.default ?? null];
    if (isSent && value !== null && !isDeepEqual(value, newValue))
      this.tell(at, `has another default: ${JSON.stringify(newValue)}`);
    const [values, newValues] = [valuesOf(before), valuesOf(after)];
    // New values among those that are answered are no break.
    if (isSent && newValues !== undefined) {
      if (values === undefined) this.tell(at, 'takes only some values');
      else for (const value of values) if (!newValues.has(value)) this.tell(at, `takes no ${value} any more`);
    }
    this.properties(before, after, at, direction);
    if (before.items !== undefined && after.items !== undefined)
      this.schema(before.items, after.items, `${at}[]`, direction);
    if (isObject(before.additionalProperties) && isObject(after.additionalProperties))
      this.schema(before.additionalProperties, after.additionalProperties, `${at}.*`, direction);
  }

  bounds(before, after, at) {
    for (const bound of LOWER)
      if (after[bound] !== undefined && !(before[bound] >= after[bound]))
        this.tell(at, `has a ${bound} of ${after[bound]}`);
    const most = { ...before, maxItems: before.maxItems ?? this.valuesOfItems(before) };
    for (const bound of UPPER)
      if (after[bound] !== undefined && !(most[bound] <= after[bound]))
        this.tell(at, `has a ${bound} of ${after[bound]}`);
    for (const form of ['pattern', 'format'])
      if (after[form] !== undefined && after[form] !== before[form])
        this.tell(at, `has another ${form}: ${after[form]}`);
  }

  /** How many items a list without doubles has at most by their values; undefined where these are not told. */
  valuesOfItems({ items, uniqueItems }) {
    return uniqueItems === true && items !== undefined ? valuesOf(items)?.size : undefined;
  }

  properties(before, after, at, direction) {
    const required = new Set(before.required);
    for (const [name, schema] of Object.entries(before.properties ?? {})) {
      const next = after.properties?.[name];
      if (next !== undefined) this.schema(schema, next, `${at}.${name}`, direction);
      else if (direction === 'answered') this.tell(`${at}.${name}`, 'is no longer there');
      else if (after.additionalProperties === false) this.tell(`${at}.${name}`, 'is no longer taken');
    }
    if (direction === 'sent') {
      for (const name of after.required ?? []) if (!required.has(name)) this.tell(`${at}.${name}`, 'has to be sent');
      return;
    }
    for (const name of required)
      if (after.properties?.[name] !== undefined && !(after.required ?? []).includes(name))
        this.tell(`${at}.${name}`, 'may be missing');
  }
}

/** The alternatives that a schema names, each without others in it. */
function variantsOf(document, schema) {
  const resolved = schema.$ref === undefined ? schema : at(document, schema.$ref);
  const { anyOf, oneOf, ...rest } = resolved;
  const variants = anyOf ?? oneOf;
  if (variants !== undefined)
    return variants.flatMap((variant) => variantsOf(document, variant)).map((variant) => ({ ...rest, ...variant }));
  if (Array.isArray(rest.type)) return rest.type.map((type) => ({ ...rest, type }));
  return [rest];
}

function at(document, ref) {
  return ref
    .slice(2)
    .split('/')
    .reduce((found, name) => found[name.replaceAll('~1', '/').replaceAll('~0', '~')], document);
}

function valuesOf({ enum: values, const: value }) {
  const all = value === undefined ? values : [value];
  return all === undefined ? undefined : new Set(all.map(String));
}

/** Of a refusal: its description names them. */
const codesOf = (answer) => answer?.description?.split(', ') ?? [];

const isObject = (value) => typeof value === 'object' && value !== null;
const isDeepEqual = (one, other) => JSON.stringify(one) === JSON.stringify(other);
