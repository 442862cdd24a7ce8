import type { ReactNode } from 'react';
import { useSession } from '../../api/session.ts';

/** What only admins may do: a viewer does not see it. The API refuses it in any case. */
export function AdminOnly({ children }: { children: ReactNode }) {
  return useSession().isAdmin ? children : null;
}
