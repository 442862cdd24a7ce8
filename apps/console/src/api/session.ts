import { useSuspenseQuery } from '@tanstack/react-query';
import { client, read, send, sentWrites } from './client.ts';

export const sessionQuery = { ...read('/api/v1/auth/me'), staleTime: 60_000 };

/** Who is signed in, and whether they may change anything. Only below the shell, which is not there without a session. */
export function useSession() {
  const { data } = useSuspenseQuery(sessionQuery);
  const { role } = data.user;
  return { ...data, role, isAdmin: role === 'admin' };
}

/** Ends the session, and forgets what was typed in it: the next person at this browser sees none of it. */
export async function signOut(): Promise<void> {
  await send(client.POST('/api/v1/auth/logout'));
  sentWrites.forget();
  for (const name of Object.keys(sessionStorage)) {
    if (name.startsWith('weir-form-')) sessionStorage.removeItem(name);
  }
}
