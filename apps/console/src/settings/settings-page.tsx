import { AskBeforeLeaving } from '../components/forms/ask-before-leaving.tsx';
import { Page } from '../components/page/page.tsx';
import { PageTabs } from '../components/page/page-tabs.tsx';
import { AuditLog } from './audit-log.tsx';
import { OrganizationSettings } from './organization-settings.tsx';
import { OwnAccount } from './own-account.tsx';
import { People } from './people.tsx';

export function SettingsPage() {
  return (
    <Page title="Settings">
      <AskBeforeLeaving>
        <PageTabs
          tabs={[
            { name: 'organization', title: 'Organization', panel: <OrganizationSettings /> },
            { name: 'people', title: 'People', panel: <People /> },
            { name: 'account', title: 'Your account', panel: <OwnAccount /> },
            { name: 'audit-log', title: 'Audit log', panel: <AuditLog /> },
          ]}
        />
      </AskBeforeLeaving>
    </Page>
  );
}
