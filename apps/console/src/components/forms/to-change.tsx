import { useQuery } from '@tanstack/react-query';
import { useId, type ReactNode } from 'react';
import { openToChange, type GetPath, type Opened, type Answer } from '../../api/client.ts';
import { Loaded } from '../outcomes/loaded.tsx';

interface ToChangeProps<Path extends GetPath> {
  path: Path;
  params?: Parameters<typeof openToChange<Path>>[1];
  /** Of a form that stands on the page, how many lines of loading. One that a button opens has none. */
  rows?: number;
  children: (opened: Opened<Answer<Path>>) => ReactNode;
}

/** What a form begins with: the thing as it is when the form is opened, whatever is read of it elsewhere meanwhile. */
export function ToChange<Path extends GetPath>({ path, params, rows, children }: ToChangeProps<Path>) {
  // Each form has its own, since each may be opened at another time.
  const id = useId();
  const opened = useQuery({
    queryKey: ['to change', path, params ?? {}, id],
    queryFn: () => openToChange(path, params),
    staleTime: 'static',
    gcTime: 0,
    structuralSharing: false,
  });
  const isPressedFor = rows === undefined;
  if (isPressedFor && opened.isPending)
    return (
      <p className="opening" role="status">
        Loading …
      </p>
    );
  return (
    <Loaded query={opened} rows={rows ?? 0} isPressedFor={isPressedFor}>
      {children}
    </Loaded>
  );
}
