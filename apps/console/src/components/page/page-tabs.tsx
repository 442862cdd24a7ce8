import '@mantine/core/styles/Tabs.css';
import { Tabs } from '@mantine/core';
import type { ReactNode } from 'react';
import { useSearchState } from '../lists/search-state.ts';

interface PageTab {
  /** By which the address names it. */
  name: string;
  title: string;
  panel: ReactNode;
}

/** The tabs of a page. Which one is open stands in the address; for one that there is not, the first is. */
export function PageTabs({ tabs }: { tabs: readonly [PageTab, ...PageTab[]] }) {
  const { state, change } = useSearchState<'tab'>();
  const { name: open } = tabs.find(({ name }) => name === state.tab) ?? tabs[0];
  return (
    <Tabs value={open} onChange={(tab) => change({ tab })} keepMounted={false}>
      <Tabs.List>
        {tabs.map(({ name, title }) => (
          <Tabs.Tab key={name} value={name}>
            {title}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {tabs.map(({ name, panel }) => (
        <Tabs.Panel key={name} value={name} pt="md">
          {panel}
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}
