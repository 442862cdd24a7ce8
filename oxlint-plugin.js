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

/** A folder imports, of what lies beside it, only what stands before it in `order`. */
const layers = {
  meta: { schema: [{ type: 'object' }] },
  create(context) {
    const { in: folder, order } = context.options[0];
    const root = join(context.cwd, folder);
    const layerOf = (path) => {
      const parts = relative(root, path).split(sep);
      return parts.length === 1 ? '.' : parts[0];
    };
    const own = order.indexOf(layerOf(context.filename));
    const check = ({ source }) => {
      if (typeof source?.value !== 'string' || !source.value.startsWith('.')) return;
      const layer = layerOf(join(dirname(context.filename), source.value));
      if (layer === '..') return;
      const place = order.indexOf(layer);
      if (place >= 0 && place <= own) return;
      context.report({ node: source, message: `Within ${folder} imports run ${order.toReversed().join(' → ')}.` });
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

export default { meta: { name: 'weir' }, rules: { 'no-error-status': noErrorStatus, 'no-sql': noSql, layers } };
