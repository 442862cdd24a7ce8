import { Button } from '@mantine/core';
import { skipToken, useQuery, useQueryClient } from '@tanstack/react-query';
import { Section } from '../components/page/page.tsx';
import { SecretOnce } from '../components/page/secret-once.tsx';
import { Time } from '../components/page/time.tsx';

export interface ShownLink {
  title: string;
  link: string | null;
  expires_at: string;
  mailed?: boolean | undefined;
}

/** It lies beside what was read, and so outlives the page that shows it, and is gone with the session. */
const PLACE = ['link that is shown once'];

export function useShownLink() {
  const queries = useQueryClient();
  const put = (link: ShownLink | null): void => void queries.setQueryData(PLACE, link);
  const { data } = useQuery<ShownLink | null>({ queryKey: PLACE, queryFn: skipToken, gcTime: Infinity });
  return { link: data ?? undefined, show: put, putAway: () => put(null) };
}

/** A link that is shown once. It stays until it is put away, so that nobody loses it by a wrong click. */
export function LinkOnce({ link, onClose }: { link: ShownLink; onClose: () => void }) {
  return (
    <Section
      title={link.title}
      about={
        link.link === null ? (
          link.mailed === true && 'It was mailed.'
        ) : (
          <>
            {link.mailed === true ? 'It was mailed, too. ' : 'Give this link to that person. '}
            It works once, until <Time at={link.expires_at} />, and is not shown again.
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
        <SecretOnce text={link.link} label="Copy the link" />
      </div>
    </Section>
  );
}
