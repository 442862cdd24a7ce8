import { Button } from '@mantine/core';
import { skipToken, useQuery, useQueryClient } from '@tanstack/react-query';
import { useKept } from '../components/dialogs/leaving.ts';
import { Section } from '../components/page/page.tsx';
import { SecretOnce } from '../components/page/secret-once.tsx';
import { Time } from '../components/page/time.tsx';

export interface ShownLink {
  /** For whom it is: a newer link of the same title takes its place. */
  title: string;
  /** Null where the first answer, which held it, did not come. */
  link: string | null;
  expires_at: string;
  mailed?: boolean | undefined;
}

/** They lie beside what was read, and so outlive the page that shows them, and are gone with the session. */
const PLACE = ['links that are shown once'];

/** The links that were made and not put away, the newest first. */
export function useShownLinks() {
  const queries = useQueryClient();
  const { data: links = [] } = useQuery<ShownLink[]>({ queryKey: PLACE, queryFn: skipToken, gcTime: Infinity });
  const change = (title: string, added: ShownLink[]): void =>
    void queries.setQueryData<ShownLink[]>(PLACE, (now = []) => [
      ...added,
      ...now.filter((each) => each.title !== title),
    ]);
  return {
    links,
    show: (link: ShownLink) => change(link.title, [link]),
    putAway: (title: string) => change(title, []),
  };
}

/** A link that is shown once. It stays until it is put away, so that nobody loses it by a wrong click. */
export function LinkOnce({ of: { title, link, mailed, expires_at }, onClose }: { of: ShownLink; onClose: () => void }) {
  const isMailed = mailed === true;
  useKept(link !== null && !isMailed);
  return (
    <Section
      title={title}
      about={
        link === null ? undefined : (
          <>
            {isMailed ? 'It was mailed, too. ' : 'Give this link to that person. '}
            It works once, until <Time at={expires_at} />, and is not shown again.
          </>
        )
      }
      actions={
        <Button variant="default" onClick={onClose}>
          Put away
        </Button>
      }
    >
      <div role="status">
        {link === null && isMailed ? (
          <p>
            It was mailed, and works once, until <Time at={expires_at} />. It is not shown here.
          </p>
        ) : (
          <SecretOnce text={link} label="Copy the link" />
        )}
      </div>
    </Section>
  );
}
