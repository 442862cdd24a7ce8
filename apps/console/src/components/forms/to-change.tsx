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

/** Reads what a form begins with: the thing as it is when the form is opened, whatever is read of it elsewhere meanwhile. */
export function useOpened<Path extends GetPath>(path: Path, params?: ToChangeProps<Path>['params']) {
  // Each form has its own, since each may be opened at another time.
  const id = useId();
  return useQuery({
    queryKey: ['to change', path, params ?? {}, id],
    queryFn: () => openToChange(path, params),
    staleTime: 'static',
    gcTime: 0,
    structuralSharing: false,
  });
}

/** A form of a thing, as {@link useOpened} reads it. */
export function ToChange<Path extends GetPath>({ path, params, rows, children }: ToChangeProps<Path>) {
  const opened = useOpened(path, params);
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
