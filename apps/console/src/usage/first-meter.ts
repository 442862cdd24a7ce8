// Which meter Usage opens with where the address names none: the one that was looked at last in this browser, else the busiest.

import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { read } from '../api/client.ts';
import { useSession } from '../api/session.ts';
import type { Meter } from './meters.ts';

const nameFor = (organizationId: string): string => `weir-meter-${organizationId}`;

/** Returns it; null while it is not known which of them is the busiest, and undefined where there is none. */
export function useFirstMeter(meters: readonly Meter[], named: string | undefined): Meter | null | undefined {
  const { organization } = useSession();
  const known = meters.find(({ id }) => id === named) ?? lastLookedAt(meters, organization.id);
  const overview = useQuery({ ...read('/api/v1/overview'), enabled: known === undefined && meters.length > 1 });
  if (known !== undefined || meters.length < 2) return known ?? meters[0];
  if (overview.isPending) return null;
  const busiest = overview.data?.top_meters?.[0]?.meter_id;
  return meters.find(({ id }) => id === busiest) ?? meters.find(({ status }) => status === 'ACTIVE') ?? meters[0];
}

function lastLookedAt(meters: readonly Meter[], organizationId: string): Meter | undefined {
  const last = localStorage.getItem(nameFor(organizationId));
  return meters.find(({ id }) => id === last);
}

/** Remembers what is looked at, for the next time. */
export function useRemembered({ id }: Meter): void {
  const { organization } = useSession();
  useEffect(() => localStorage.setItem(nameFor(organization.id), id), [id, organization.id]);
}
