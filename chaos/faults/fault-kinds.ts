import { edgeFaults } from './edges.ts';
import type { FaultKind } from './fault.ts';
import { limitFaults } from './limits.ts';
import { machineFaults } from './machines.ts';
import { lostDataFaults } from './lost-data.ts';
import { processFaults } from './processes.ts';
import { receiverFaults } from './receivers.ts';
import { storeFaults } from './stores.ts';
import { threeKills } from './three-kills.ts';

/** Every fault there is; docs/chaos.md tells of each. */
export const FAULT_KINDS: readonly FaultKind[] = [
  ...edgeFaults,
  ...processFaults,
  threeKills,
  ...storeFaults,
  ...limitFaults,
  ...lostDataFaults,
  ...receiverFaults,
  ...machineFaults,
];
