// Runs commands side by side and ends as the first of them that fails. What a command says is written in one piece, when it has ended.
// Plain JavaScript, as install.mjs.

import { spawn } from 'node:child_process';

let code = 0;
await Promise.all(process.argv.slice(2).map(run));
process.exitCode = code;

function run(command) {
  return new Promise((resolve) => {
    const child = spawn(command, { shell: true, stdio: ['ignore', 'pipe', 'pipe'] });
    const said = [];
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => said.push(chunk));
    child.once('close', (ended) => {
      process.stdout.write(Buffer.concat(said));
      if (ended !== 0) {
        process.stdout.write(`${command}: failed\n`);
        code ||= ended ?? 1;
      }
      resolve();
    });
  });
}
