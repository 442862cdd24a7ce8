import '@mantine/core/styles/Tabs.css';
import { Tabs } from '@mantine/core';
import { AskBeforeLeaving } from '../components/forms/ask-before-leaving.tsx';
import { Page } from '../components/page/page.tsx';
import { tabOf, useSearchState } from '../components/lists/search-state.ts';
import { AuditLog } from './audit-log.tsx';
import { OrganizationSettings } from './organization-settings.tsx';
import { OwnAccount } from './own-account.tsx';
import { People } from './people.tsx';

const TABS = ['organization', 'people', 'account', 'audit-log'] as const;

export function SettingsPage() {
  const { state, change } = useSearchState<'tab'>();
  return (
    <Page title="Settings">
      <AskBeforeLeaving>
        <Tabs value={tabOf(state.tab, TABS)} onChange={(tab) => change({ tab })} keepMounted={false}>
          <Tabs.List>
            <Tabs.Tab value="organization">Organization</Tabs.Tab>
            <Tabs.Tab value="people">People</Tabs.Tab>
            <Tabs.Tab value="account">Your account</Tabs.Tab>
            <Tabs.Tab value="audit-log">Audit log</Tabs.Tab>
          </Tabs.List>
          <Tabs.Panel value="organization" pt="lg">
            <OrganizationSettings />
          </Tabs.Panel>
          <Tabs.Panel value="people" pt="lg">
            <People />
          </Tabs.Panel>
          <Tabs.Panel value="account" pt="lg">
            <OwnAccount />
          </Tabs.Panel>
          <Tabs.Panel value="audit-log" pt="lg">
            <AuditLog />
          </Tabs.Panel>
        </Tabs>
      </AskBeforeLeaving>
    </Page>
  );
}
