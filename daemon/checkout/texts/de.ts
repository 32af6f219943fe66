// German.
import type { Texts } from './texts.ts';

export const de: Texts = {
  pay_to: 'Zahlung an {merchant}',
  refill_title: 'Guthabenaufladung',
  direct: 'Sie zahlen direkt an {merchant}, von Wallet zu Wallet. Niemand verwahrt Ihr Geld dazwischen.',

  waiting: 'Wir warten auf Ihre Zahlung',
  waiting_text: 'Diese Seite aktualisiert sich automatisch, sobald Ihre Zahlung eingeht.',
  closing: 'Die Zeit ist abgelaufen',
  closing_text:
    'Senden Sie jetzt nichts mehr. Wir prüfen noch, ob eine rechtzeitig gesendete Zahlung unterwegs ist.',
  seen: 'Zahlung erkannt',
  seen_text:
    'Ihre Zahlung ist eingegangen und wird bestätigt. Sie müssen nichts weiter tun und können diese Seite schließen.',
  orphaned: 'Ihre Transaktion wurde verworfen',
  orphaned_text:
    'Das Netzwerk hat sie verworfen oder ersetzt. Prüfen Sie Ihre Wallet: Ist das Geld noch da, zahlen Sie bitte erneut.',
  underpaid: 'Teilweise bezahlt',
  underpaid_text:
    'Eingegangen: {received}. Senden Sie die fehlenden {due} an dieselbe Adresse, bevor die Zeit abläuft.',
  processing: 'Zahlung eingegangen, wird bearbeitet',
  processing_text:
    'Ihr Geld ist sicher. Zahlen Sie nicht noch einmal: Ihre Zahlung wird automatisch bestätigt und diese Seite aktualisiert sich.',
  confirmed: 'Bezahlt',
  confirmed_text: '{merchant} hat Ihre Zahlung erhalten. Sie können diese Seite als Beleg aufbewahren.',
  overpaid: 'Bezahlt, aber zu viel gesendet',
  overpaid_text:
    '{merchant} hat Ihre Zahlung erhalten. Sie haben {extra} zu viel gesendet: Bitten Sie {merchant}, Ihnen die Differenz zu erstatten.',
  expired: 'Zahlung abgelaufen',
  expired_text:
    'Es ist keine Zahlung rechtzeitig eingegangen. Senden Sie nichts an diese Adresse. Möchten Sie noch bezahlen, gehen Sie zurück zu {merchant} und starten Sie eine neue Zahlung.',
  cancelled: 'Zahlung abgebrochen',
  cancelled_text:
    'Senden Sie nichts an diese Adresse. Möchten Sie noch bezahlen, gehen Sie zurück zu {merchant} und starten Sie eine neue Zahlung.',
  failed: 'Zahlung fehlgeschlagen',
  failed_text:
    'Diese Zahlung konnte nicht abgeschlossen werden. Senden Sie nichts an diese Adresse. Möchten Sie noch bezahlen, gehen Sie zurück zu {merchant} und starten Sie eine neue Zahlung.',
  late: 'Ihre Zahlung ist zu spät eingegangen',
  late_text:
    'Erst nach dem Ende dieser Zahlung eingegangen und daher nicht angerechnet: {received}. Ihr Geld ist nicht verloren: Bitten Sie {merchant}, es anzunehmen oder zurückzusenden.',
  incomplete: 'Nicht vollständig bezahlt',
  incomplete_text:
    'Rechtzeitig eingegangen: nur {received} von {amount}. Die Zahlung wurde daher nicht abgeschlossen. Ihr Geld ist nicht verloren: Fragen Sie {merchant}, wie Sie den Rest bezahlen können, oder bitten Sie um Erstattung.',
  already_sent:
    'Wenn Sie schon Geld gesendet haben, ist es nicht verloren: Es geht direkt an {merchant}. Fragen Sie dort nach.',

  help: 'Fragen? Wenden Sie sich an {merchant} und nennen Sie diese Zahlungsnummer:',
  amount: 'Betrag',
  rest: 'Restbetrag',
  received: 'Erhalten',
  address: 'Adresse',
  memo: 'Memo (Kommentar)',
  network: 'Netzwerk',
  order: 'Bestellung',
  rate: 'Wechselkurs',
  fee: 'Servicegebühr (enthalten)',
  transaction: 'Transaktion',
  paid_at: 'Bezahlt am',
  confirmations: 'Bestätigungen: {n}\u00a0von\u00a0{m}',
  time_left: 'Verbleibende Zeit',
  pay_before: 'Zahlbar bis {time}',
  minute_left: 'Noch weniger als eine Minute',

  warn_memo:
    'Wenn Sie die Zahlung manuell eingeben, geben Sie dieses Memo an. Ohne das Memo lässt sich die Zahlung Ihnen nicht zuordnen. QR-Code und Schaltflächen enthalten es bereits.',
  warn_exact:
    'Senden Sie genau diesen Betrag: Daran wird Ihre Zahlung erkannt. Netzwerkgebühren kommen hinzu.',
  warn_network: 'Senden Sie nur {currency} im Netzwerk {network}. Alles andere kann verloren gehen.',
  warn_direct:
    'Zahlen Sie {currency} aus Ihrer eigenen Wallet: Zahlungen von Börsen und Smart-Contract-Wallets werden möglicherweise nicht erkannt.',
  compare:
    'Vergleichen Sie vor dem Bestätigen die fett gedruckten Zeichen mit der Adresse, die Ihre Wallet anzeigt.',
  testnet: 'Testnetz: Diese Coins haben keinen Wert.',
  demo_rate: 'Demo-Wechselkurs, kein Marktpreis.',

  copy: 'Kopieren',
  copied: 'Kopiert',
  selected: 'Markiert: jetzt kopieren',
  copy_what: '{what} kopieren',
  open_wallet: 'Wallet-App öffnen',
  wallet_hint: 'Es öffnet sich nichts? Scannen Sie den QR-Code oder kopieren Sie die Angaben in Ihre Wallet.',
  scan: 'Scannen Sie den QR‑Code mit Ihrer Wallet‑App und bestätigen Sie {amount}.',
  scan_address:
    'Dieser QR-Code enthält nur die Adresse. Geben Sie den Rest selbst ein: {amount} im Netzwerk {network}.',
  qr_alt: 'QR-Code mit allen Zahlungsdaten',
  qr_rest: 'QR-Code für den Restbetrag',
  qr_address: 'QR-Code mit der Adresse',
  cancel: 'Zahlung abbrechen',
  cancel_sure:
    'Brechen Sie nur ab, wenn Sie noch nichts gesendet haben. Das lässt sich nicht rückgängig machen.',
  cancel_yes: 'Ja, diese Zahlung abbrechen',
  print: 'Beleg drucken',
  receipt: 'Beleg',
  refreshes: 'Diese Seite wird alle {n} Sekunden automatisch neu geladen.',
  offline: 'Keine Verbindung. Neuer Versuch…',
  blind:
    'Wir erreichen das Netzwerk {network} gerade nicht. Wenn Sie schon bezahlt haben, ist Ihr Geld nicht verloren: Wir erkennen die Zahlung, sobald das Netzwerk wieder erreichbar ist.',
  simulate_only:
    'Nur Simulation: Das Netzwerk {network} ist gerade nicht erreichbar. Senden Sie nichts: Wir würden es nicht rechtzeitig bemerken.',
  again: 'Neue Zahlung starten',

  return_to: 'Zurück zu {merchant}',
  return_soon: 'Sie gelangen in wenigen Sekunden zurück zu {merchant}.',
  stay: 'Auf dieser Seite bleiben',
  explorer: 'Auf {host} ansehen',
  receipt_number: 'Zahlungsnummer',
  receipt_from: 'Beleg von {merchant}',
  receipt_mail: '{merchant} hat Ihre Zahlung über {usd} erhalten.',
  item: 'Beschreibung',
  total: 'Gesamtbetrag',
  landing_text:
    'Mit {name} nehmen Shops Kryptozahlungen an. Käufer zahlen direkt an den Shop, von Wallet zu Wallet: Niemand verwahrt das Geld dazwischen.',
  landing_buyer: 'Sie möchten bezahlen? Öffnen Sie den Link, den Sie vom Shop erhalten haben.',
  landing_up: 'Alle Systeme funktionieren',
  landing_down: 'Manche Zahlungen können länger dauern als sonst',
  landing_docs: 'Entwickler\u00addokumentation',
  landing_reference: 'API-Referenz',
  landing_agents: 'Für KI-Agenten',
  pay_with: 'Mit {wallet} bezahlen',
  wallet_confirm: 'Bestätigen Sie die Zahlung in {wallet}.',
  wallet_again:
    'Die Zahlung war in {wallet} zu lange offen, das Netzwerk nimmt sie nicht mehr an. Sie werden gleich noch einmal gefragt.',
  wallet_sent: '{wallet} hat die Zahlung gesendet. Sie erscheint gleich hier.',
  wallet_declined: 'Sie haben die Zahlung in {wallet} nicht bestätigt. Es wurde nichts gesendet.',
  wallet_network:
    '{wallet} ist auf ein anderes Netzwerk eingestellt. Wechseln Sie es dort und versuchen Sie es noch einmal.',
  wallet_cannot: 'Auf diesem Konto ist nicht genug für die Zahlung und die Netzwerkgebühr.',
  wallet_failed:
    '{wallet} konnte die Zahlung nicht ausführen. Versuchen Sie es noch einmal oder zahlen Sie auf anderem Weg.',
  formerly: 'früher {name}',
  other_wallets: 'Andere Wallets',
  by_hand: 'Manuell bezahlen',
  usual_time: 'Das dauert in der Regel {time}.',
  time_second: 'etwa eine Sekunde',
  time_seconds: 'wenige Sekunden',
  time_minute: 'etwa eine Minute',
  time_minutes: 'etwa {time}',
  time_range: '{n} bis {time}',
  fee_about: 'Gebühr etwa {usd}',
  no_rate: 'Zurzeit kein Wechselkurs',
  another_way: 'Anders bezahlen',
  another_sent:
    'Wenn Sie {currency} schon gesendet haben, zahlen Sie nicht noch einmal: Ihre Zahlung wird erkannt.',
  another_back: 'Bei {currency} bleiben',
  rest_code: 'QR-Code und Schaltflächen unten verlangen nur noch den Restbetrag.',
  open_page: 'Zahlungsseite öffnen',
  close: 'Schließen',

  choose: 'Wie möchten Sie bezahlen?',
  inactive: 'Dieses Angebot ist derzeit nicht verfügbar.',
  unavailable: 'Derzeit nicht verfügbar',
  only_simulated: 'Nur Simulation',
  no_coins: 'Derzeit ist keine Zahlungsart verfügbar. Bitte versuchen Sie es später noch einmal.',
  try_another: 'Mit dieser Währung können Sie gerade nicht bezahlen. Bitte wählen Sie eine andere.',
  try_later: 'Etwas ist schiefgelaufen. Bitte versuchen Sie es in einer Minute noch einmal.',
  try_then: 'Hier können Sie gerade nicht bezahlen. Bitte versuchen Sie es {time} noch einmal.',
  too_many_open:
    'Hier sind zu viele Zahlungen offen. Bezahlen Sie eine von Ihren oder brechen Sie sie ab, wählen Sie eine andere Währung oder versuchen Sie es {time} noch einmal.',
  not_found: 'Seite nicht gefunden',
  not_found_text: 'Prüfen Sie den Link, den Sie erhalten haben, oder bitten Sie den Shop um einen neuen.',
  withheld_text:
    'Diese Seite zeigt die Einzelheiten dieser Bestellung nicht mehr an. Wenn Sie sie brauchen, fragen Sie den Shop.',

  password_title: 'Neues Passwort festlegen',
  password_label: 'Neues Passwort',
  password_save: 'Passwort speichern',
  password_done: 'Ihr Passwort wurde geändert. Sie können sich jetzt damit anmelden.',
  password_length: 'Das Passwort muss {min} bis {max} Zeichen lang sein.',
  password_invalid: 'Dieser Link ist abgelaufen oder wurde bereits verwendet. Fordern Sie einen neuen an.',
  password_scripts: 'Diese Seite benötigt JavaScript. Aktivieren Sie es und laden Sie die Seite neu.',
  recovery_asked:
    'Jemand (vermutlich Sie) hat ein neues Passwort für das Konto {email} bei {site} angefordert.',
  recovery_valid: 'Der Link funktioniert nur einmal und ist {n} Stunden lang gültig.',
  recovery_ignore: 'Falls Sie das nicht waren, ignorieren Sie diese E-Mail. Ihr Passwort bleibt unverändert.',
  email_title: 'E-Mail-Adresse bestätigen',
  email_text: 'Bestätigen Sie per Klick, dass diese E-Mail-Adresse Ihnen gehört.',
  email_confirm: 'Bestätigen',
  email_done: 'Ihre E-Mail-Adresse wurde bestätigt.',
  email_asked: 'Jemand (vermutlich Sie) hat {email} als Adresse eines Kontos bei {site} angegeben.',
  email_ignore: 'Falls Sie das nicht waren, ignorieren Sie diese E-Mail. Die Adresse wird nicht verwendet.',
  changed_title: 'Ihr Konto wurde geändert',
  changed_email:
    'Die E-Mail-Adresse des Kontos {email} bei {site} wurde durch eine andere ersetzt. Alle Sitzungen sind beendet.',
  changed_password: 'Das Passwort des Kontos {email} bei {site} wurde geändert. Alle Sitzungen sind beendet.',
  changed_key: 'Der API-Schlüssel des Kontos {email} bei {site} wurde ersetzt.',
  changed_alarm: 'Falls Sie das nicht waren, wenden Sie sich sofort an den Betreiber von {site}.',
  test_mail_title: 'Test-E-Mail',
  test_mail_text: 'Diese E-Mail kommt vom Zahlungsgateway {site}. Der E-Mail-Versand funktioniert.',

  claim_open: 'Ich habe bereits bezahlt',
  claim_hint:
    'Wir prüfen das Netzwerk sofort. Mit der Transaktions-ID aus Ihrer Wallet finden wir Ihre Zahlung auch ohne Memo.',
  claim_label: 'Transaktions-ID (optional)',
  claim_check: 'Jetzt prüfen',
  claim_partial: 'Eingegangen am {time}: {amount}. Das ist weniger als der fällige Betrag.',
  claim_late: 'Eingegangen am {time}: {amount}. Da war diese Zahlung schon beendet.',
  claim_unmatched:
    'Eingegangen am {time}: {amount}. Der Betrag konnte dieser Zahlung aber nicht zugeordnet werden.',
  claim_memo_missing: 'Das Memo fehlt.',
  claim_memo_other: 'Die Zahlung hat ein anderes Memo.',
  claim_other_asset: 'Das ist nicht die verlangte Währung.',
  claim_other_network: 'Die Zahlung kam über ein anderes Netzwerk: {network}.',
  claim_look_alike: 'Das ist ein anderer Token mit ähnlichem Namen.',
  claim_amount_differs: 'Der Betrag stimmt nicht mit dem fälligen Betrag überein.',
  claim_unclear: 'Es ist unklar, für welche Zahlung das Geld gedacht war.',
  claim_noted:
    '{merchant} wurde benachrichtigt. Wenden Sie sich dorthin und nennen Sie die Zahlungsnummer auf dieser Seite.',
  claim_nothing:
    'Für diese Zahlung ist noch nichts eingegangen. Wenn Sie sie gesendet haben, geben Sie die Transaktions-ID ein.',
  claim_not_found:
    'Wir konnten diese Transaktion für diese Zahlung nicht finden. Prüfen Sie die ID in Ihrer Wallet oder versuchen Sie es in einigen Minuten noch einmal.',
  claim_not_an_id: 'Das ist keine Transaktions-ID. Kopieren Sie sie aus den Zahlungsdetails in Ihrer Wallet.',
  claim_not_readable:
    'Wir können das Netzwerk gerade nicht prüfen. Bitte versuchen Sie es in einigen Minuten erneut.',
};
