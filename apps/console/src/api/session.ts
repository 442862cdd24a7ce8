import { queryOptions, useSuspenseQuery } from '@tanstack/react-query';
import { client, read, send, sentWrites } from './client.ts';
import { noteSession } from './session-end.ts';

/** Under this name a tab remembers whose what was typed in it is. */
const PERSON = 'weir-person';

const { queryKey } = read('/api/v1/auth/me');

/** What tabs are told in place of the id of whoever signed in. */
const SIGNED_OUT = '';

/** The tabs of a browser have one session: who signs in with one of them has signed in with all. */
const tabs = new BroadcastChannel(PERSON);
tabs.addEventListener('message', ({ data }) => {
  const person = sessionStorage.getItem(PERSON);
  if (person === null) return;
  // The person has signed out, and whoever comes to this browser next is to find nothing of what was typed here.
  if (data === SIGNED_OUT) forgetPerson();
  // What is open here is of somebody else, and would be sent in the name of the person who signed in.
  if (person !== data) loadForAnother();
  else noteSession();
});

/** Tells all other tabs whose the session is, or that it is nobody’s. */
export function tellTabs(userId: string): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel reaches its own origin only, and takes no other
  tabs.postMessage(userId);
}

let isOfAnother = false;

/** Whether somebody else has signed in than who has typed here, or that person has signed out: nobody is there to be asked about it. */
export const isSessionOfAnother = (): boolean => isOfAnother;

/** Loads the page anew for the person who has signed in in place of another, or as one that nobody is signed in on. */
export function loadForAnother(): void {
  isOfAnother = true;
  window.location.reload();
}

/** No page is drawn before it is known: whoever it is sees nothing of what somebody else typed in this tab. */
export const sessionQuery = queryOptions({
  queryKey,
  queryFn: async ({ signal }) => {
    const session = await send(client.GET('/api/v1/auth/me', { signal }));
    if (sessionStorage.getItem(PERSON) !== session.user.id) forgetPerson();
    sessionStorage.setItem(PERSON, session.user.id);
    tellTabs(session.user.id);
    return session;
  },
  staleTime: 60_000,
});

/** Who is signed in, and whether they may change anything. Only below the shell, which is not there without a session. */
export function useSession() {
  const { data } = useSuspenseQuery(sessionQuery);
  const { role } = data.user;
  return { ...data, role, isAdmin: role === 'admin' };
}

/** Ends the session, and forgets what was typed in it. */
export async function signOut(): Promise<void> {
  await send(client.POST('/api/v1/auth/logout'));
  forgetPerson();
  tellTabs(SIGNED_OUT);
}

function forgetPerson(): void {
  sentWrites.forget();
  sessionStorage.removeItem(PERSON);
  for (const name of Object.keys(sessionStorage)) {
    if (name.startsWith('weir-form-')) sessionStorage.removeItem(name);
  }
}
