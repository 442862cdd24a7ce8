// Makes sure that the dependencies in node_modules are the ones package-lock.json names, and installs them when they
// are not. Plain JavaScript without dependencies, because it runs before there are any. It acts when it is run or
// imported; when there is nothing to do it only reads two files.

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(`Weir needs Node 20.19, or 22.12 or newer; this is ${process.version}.`);
  process.exit(1);
}

if (!isInstalled()) install();

/** npm writes down what it installed in node_modules/.package-lock.json, as the last thing it does. */
function isInstalled() {
  const wanted = JSON.parse(readFileSync(`${root}package-lock.json`, 'utf8')).packages;
  let present;
  try {
    present = JSON.parse(readFileSync(`${root}node_modules/.package-lock.json`, 'utf8')).packages;
  } catch {
    return false;
  }
  return Object.entries(wanted).every(([path, entry]) => {
    // The project itself and its workspaces are not installed; what is optional may be for another platform.
    if (!path.includes('node_modules/')) return true;
    const found = present[path];
    if (found === undefined) return entry.optional === true || entry.devOptional === true || entry.peer === true;
    return found.version === entry.version && found.integrity === entry.integrity;
  });
}

function install() {
  console.log('Installing the dependencies (npm ci) …');
  // npm may have started us: its own command line must not leak into this one, the settings of the user should.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) =>
        !/^npm_(lifecycle|package|command|execpath|node_execpath|config_(local_prefix|workspaces?|omit|dry_run))/.test(
          name,
        ),
    ),
  );
  const npmCli = process.env.npm_execpath ?? '';
  const [program, ...first] = basename(npmCli).startsWith('npm') ? [process.execPath, npmCli] : ['npm'];
  // The compiler and the test runner are dev dependencies: without --include=dev, NODE_ENV=production leaves them out. No package needs its
  // install script: they compile what is optional, or choose among what is there.
  const result = spawnSync(program, [...first, 'ci', '--include=dev', '--ignore-scripts'], {
    cwd: root,
    env,
    encoding: 'utf8',
  });
  if (result.status === 0) return;
  console.error(`${result.stdout ?? ''}${result.stderr ?? ''}`.trim());
  console.error(`The dependencies could not be installed${result.error ? `: ${result.error.message}` : '.'}`);
  process.exit(1);
}
