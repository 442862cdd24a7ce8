import { expect, test } from 'vitest';
import { hostileConnectionsIn } from './resource-usage.ts';

/** As Linux has it in /proc/net/tcp; port 20000 is 4E20. */
function lineOf(local: string, remote: string, state: string, inode: string): string {
  return `   0: ${local} ${remote} ${state} 00000000:00000000 00:00000000 00000000     0        0 ${inode} 1 0000 100 0 0 10 0`;
}

test('the connections with hostile clients are counted that a process holds, in whatever state', () => {
  const table = [
    '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode',
    lineOf('0100007F:4E20', '0107007F:C001', '01', '22632'),
    lineOf('0100007F:4E20', '0207007F:C002', '05', '22633'),
    // Left to the system, of another client, at another port, and the one that listens.
    lineOf('0100007F:4E20', '0207007F:C003', '05', '0'),
    lineOf('0100007F:4E20', '0100007F:C004', '01', '22634'),
    lineOf('0100007F:4E21', '0107007F:C005', '01', '22635'),
    lineOf('0100007F:4E20', '00000000:0000', '0A', '22636'),
  ].join('\n');
  expect(hostileConnectionsIn(table, 20_000)).toBe(2);
});
