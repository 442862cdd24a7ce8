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

/**
 * Of what lies within a folder, each imports only what stands before it in `order`: folders, and "." for the files beside them. A file or
 * a folder may stand at another place than its own: `as`.
 */
const layers = {
  meta: { schema: { type: 'array', items: { type: 'object' } } },
  create(context) {
    const checks = context.options.map((option) => within(context, option));
    const check = ({ source }) => {
      if (typeof source?.value !== 'string' || !source.value.startsWith('.')) return;
      const path = join(dirname(context.filename), source.value);
      for (const problemOf of checks) {
        const message = problemOf(path);
        if (message !== undefined) context.report({ node: source, message });
      }
    };
    return {
      ImportDeclaration: check,
      ExportNamedDeclaration: check,
      ExportAllDeclaration: check,
      ImportExpression: check,
      TSImportType: check,
    };
  },
};

/** Says why a file may not import another one; undefined where it may, or where one of the two lies elsewhere. */
function within({ cwd, filename }, { in: folder, order, as = {} }) {
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

export default { meta: { name: 'weir' }, rules: { 'no-error-status': noErrorStatus, 'no-sql': noSql, layers } };
