import { Drawer as Panel } from '@mantine/core';
import '@mantine/core/styles/Drawer.css';
import type { ReactNode } from 'react';
import { useFocusBack } from './dialog.tsx';

interface DrawerProps {
  title: string;
  onClose: () => void;
  children: ReactNode;
}

/** What is looked at beside a page, which stays where it is. It is there for as long as it is mounted, and gives the focus back. */
export function Drawer({ title, onClose, children }: DrawerProps) {
  useFocusBack();
  return (
    <Panel
      opened
      onClose={onClose}
      title={title}
      size="46rem"
      position="right"
      returnFocus={false}
      lockScroll={false}
      transitionProps={{ duration: 80 }}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {children}
    </Panel>
  );
}
