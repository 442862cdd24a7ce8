// Rules of this repository that oxlint does not have. Plain JavaScript: oxlint loads it on Node 20, which runs no TypeScript.

import { dirname, join, relative, sep } from 'node:path';

const SETS_STATUS = new Set(['code', 'status', 'writeHead']);
const RUNS_SQL = new Set(['query', 'selectFrom', 'selectNoFrom', 'insertInto', 'updateTable', 'deleteFrom', 'with']);

/** Only http/problem.ts knows error statuses: a route throws a Refusal with a code. */
const noErrorStatus = {
  create(context) {
    const check = (node) => {
      if (node.type === 'ConditionalExpression') [node.consequent, node.alternate].forEach(check);
      if (node.type !== 'Literal' || typeof node.value !== 'number' || node.value < 400) return;
      context.report({ node, message: 'Only http/problem.ts knows error statuses: throw a Refusal with a code.' });
    };
    return {
      CallExpression({ callee, arguments: given }) {
        if (SETS_STATUS.has(callee.property?.name)) given.forEach(check);
      },
      AssignmentExpression({ left, right }) {
        if (left.property?.name === 'statusCode') check(right);
      },
    };
  },
};

/** A pool or a Kysely that was passed on runs SQL without any import of pg or kysely. */
const noSql = {
  create(context) {
    return {
      CallExpression({ callee }) {
        if (!RUNS_SQL.has(callee.property?.name)) return;
        context.report({ node: callee.property, message: 'Only packages/db holds SQL.' });
      },
    };
  },
};

/** Calls back with each path that a file imports, of types too, at once or while it runs. */
function eachImport(check) {
  const visit = ({ source }) => {
    if (typeof source?.value === 'string') check(source.value, source);
  };
  return {
    ImportDeclaration: visit,
    ExportNamedDeclaration: visit,
    ExportAllDeclaration: visit,
    ImportExpression: visit,
    TSImportType: visit,
  };
}

const within = (folder) => [new RegExp(`(?:^|/)${folder}/`), 'Workspaces import each other by their names.'];

/** What an entry of `imports` may name as not to be imported, each with what is said then. */
const OUTSIDE = {
  postgres: [/^(?:pg|kysely)(?:\/|$)/, 'Only packages/db speaks to Postgres.'],
  redis: [/^(?:ioredis|bullmq|rate-limiter-flexible)(?:\/|$)/, 'Only packages/queue speaks to Redis.'],
  node: [/^node:/, 'Nothing of Node is there.'],
  ...Object.fromEntries(['src', 'test', 'bench', 'chaos', 'services'].map((folder) => [folder, within(folder)])),
};

/**
 * Of other workspaces a file imports what its folder names as `weir`, all where it names nothing; and none of what it names as `not`. Of
 * several folders that it lies in the longest counts.
 */
const imports = {
  meta: { schema: [{ type: 'object' }] },
  create(context) {
    const [folders] = context.options;
    const path = relative(context.cwd, context.filename).split(sep).join('/');
    const own = Object.keys(folders).filter((folder) => path.startsWith(`${folder}/`));
    const { weir, not } = folders[own.toSorted((a, b) => b.length - a.length)[0]] ?? { weir: [], not: [] };
    return eachImport((imported, node) => {
      const name = /^@weir\/(.+)/.exec(imported)?.[1];
      if (name !== undefined && weir?.every((each) => !`${name}/`.startsWith(`${each}/`)))
        context.report({ node, message: 'It stands where this may not be imported: see CONTRIBUTING.md#imports.' });
      for (const [pattern, message] of not.map((each) => OUTSIDE[each]))
        if (pattern.test(imported)) context.report({ node, message });
    });
  },
};

/**
 * Of what lies within a folder, each imports only what stands before it in `order`: folders, and "." for the files beside them. A file or
 * a folder may stand at another place than its own: `as`.
 */
const layers = {
  meta: { schema: { type: 'array', items: { type: 'object' } } },
  create(context) {
    const checks = context.options.map((option) => layersOf(context, option));
    return eachImport((imported, node) => {
      if (!imported.startsWith('.')) return;
      const path = join(dirname(context.filename), imported);
      for (const message of checks.map((problemOf) => problemOf(path)))
        if (message !== undefined) context.report({ node, message });
    });
  },
};

/** Says why a file may not import another one; undefined where it may, or where one of the two lies elsewhere. */
function layersOf({ cwd, filename }, { in: folder, order, as = {} }) {
  const layerOf = (path) => {
    const parts = relative(join(cwd, folder), path).split(sep);
    const own = parts.length === 1 ? '.' : parts[0];
    return as[parts.join('/')] ?? as[own] ?? own;
  };
  const layer = layerOf(filename);
  return (path) => {
    const imported = layerOf(path);
    if (layer === '..' || imported === '..') return undefined;
    const place = order.indexOf(imported);
    if (place >= 0 && place <= order.indexOf(layer)) return undefined;
    return `Within ${folder} imports run ${order.toReversed().join(' → ')}.`;
  };
}

export default {
  meta: { name: 'weir' },
  rules: { 'no-error-status': noErrorStatus, 'no-sql': noSql, imports, layers },
};
