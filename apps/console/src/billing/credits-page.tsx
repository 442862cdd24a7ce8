import { client, send } from '../api/client.ts';
import { CustomerSelect } from '../customers/customer-select.tsx';
import { ListExport } from '../components/lists/list-export.tsx';
import { Page } from '../components/page/page.tsx';
import { useSearchState } from '../components/lists/search-state.ts';
import { CustomerCredits } from './customer-credits.tsx';

export function CreditsPage() {
  const { state, change } = useSearchState<'customer'>();
  const filter = state.customer === undefined ? {} : { customer_id: state.customer };
  return (
    <Page
      title="Credits"
      about="Money that a customer has in advance. Invoices draw it when they are finalized."
      actions={
        <ListExport
          name="credits"
          readPage={(part) => send(client.GET('/api/v1/credits', { params: { query: { ...filter, ...part } } }))}
        />
      }
    >
      <div className="toolbar">
        <CustomerSelect value={state.customer ?? null} onChange={(customer) => change({ customer })} />
      </div>
      {state.customer === undefined ? (
        <p className="muted">Choose a customer to see what it has, and to grant it more.</p>
      ) : (
        <CustomerCredits key={state.customer} customerId={state.customer} />
      )}
    </Page>
  );
}
