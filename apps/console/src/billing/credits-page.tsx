import { CustomerSelect } from '../customers/customer-select.tsx';
import { Page } from '../components/page/page.tsx';
import { useSearchState } from '../components/lists/search-state.ts';
import { CustomerCredits } from './customer-credits.tsx';

export function CreditsPage() {
  const { state, change } = useSearchState<'customer'>();
  return (
    <Page title="Credits" about="Money that a customer has in advance. Invoices draw it when they are finalized.">
      <div className="toolbar">
        <CustomerSelect value={state.customer ?? null} onChange={(customer) => change({ customer })} />
      </div>
      {state.customer === undefined ? (
        <p className="muted">Choose a customer to see what it has, and to grant it more.</p>
      ) : (
        <CustomerCredits customerId={state.customer} />
      )}
    </Page>
  );
}
