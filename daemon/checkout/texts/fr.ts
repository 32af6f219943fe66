// French.
import type { Texts } from './texts.ts';

export const fr: Texts = {
  pay_to: 'Paiement à {merchant}',
  refill_title: 'Recharge de la limite prépayée',
  direct:
    'Vous payez {merchant} directement, de votre portefeuille au sien. Personne ne retient l’argent entre-temps.',

  waiting: 'En attente de votre paiement',
  waiting_text: 'Cette page se met à jour automatiquement dès que votre paiement arrive.',
  closing: 'Le délai est écoulé',
  closing_text: 'N’envoyez plus rien. Nous vérifions encore si un paiement fait à temps est en route.',
  seen: 'Paiement détecté',
  seen_text:
    'Votre transaction est arrivée et est en cours de confirmation. Vous n’avez rien à faire et pouvez fermer cette page.',
  orphaned: 'Votre transaction a disparu',
  orphaned_text:
    'Le réseau l’a abandonnée ou remplacée. Vérifiez votre portefeuille : si l’argent n’est pas parti, payez à nouveau.',
  underpaid: 'Paiement incomplet',
  underpaid_text:
    '{received} sont arrivés, il manque {due}. Envoyez le reste à la même adresse avant la fin du délai.',
  processing: 'Paiement reçu, en cours de traitement',
  processing_text:
    'Votre argent est en sécurité. Ne payez pas une seconde fois : le paiement sera confirmé automatiquement et cette page l’affichera.',
  confirmed: 'Payé',
  confirmed_text: '{merchant} a reçu votre paiement. Vous pouvez garder cette page comme reçu.',
  overpaid: 'Payé, avec un trop-perçu',
  overpaid_text:
    '{merchant} a reçu votre paiement. Vous avez envoyé {extra} de trop : demandez à {merchant} de vous le rendre.',
  expired: 'Le délai est dépassé',
  expired_text:
    'Aucun paiement n’est arrivé à temps. N’envoyez plus rien à cette adresse. Pour payer quand même, retournez chez {merchant} et commencez un nouveau paiement.',
  cancelled: 'Paiement annulé',
  cancelled_text:
    'N’envoyez rien à cette adresse. Pour acheter quand même, retournez chez {merchant} et commencez un nouveau paiement.',
  failed: 'Le paiement a échoué',
  failed_text:
    'Ce paiement n’a pas pu aboutir. N’envoyez plus rien à cette adresse. Pour payer quand même, retournez chez {merchant} et commencez un nouveau paiement.',
  late: 'Votre paiement est arrivé trop tard',
  late_text:
    '{received} sont arrivés après la fin de ce paiement et n’ont donc pas été comptés. Ils ne sont pas perdus : demandez à {merchant} de les accepter ou de les rendre.',
  incomplete: 'Pas entièrement payé à temps',
  incomplete_text:
    'Seuls {received} sur {amount} sont arrivés à temps, le paiement n’a donc pas abouti. L’argent n’est pas perdu : demandez à {merchant} comment compléter, ou de le rendre.',
  already_sent:
    'Si vous avez déjà envoyé de l’argent, il n’est pas perdu : il va directement à {merchant}. Demandez-lui.',

  help: 'Des questions ? Adressez-vous à {merchant} avec ce numéro de paiement :',
  amount: 'Montant',
  rest: 'Reste à payer',
  received: 'Reçu',
  address: 'Adresse',
  memo: 'Mémo (commentaire)',
  network: 'Réseau',
  order: 'Commande',
  rate: 'Taux de change',
  fee: 'Frais de service, compris',
  transaction: 'Transaction',
  paid_at: 'Payé le',
  confirmations: '{n} confirmations sur {m}',
  time_left: 'Temps restant',
  pay_before: 'Payez avant {time}',
  minute_left: 'Il reste moins d’une minute',

  warn_memo:
    'Ajoutez ce mémo si vous saisissez le paiement à la main : sans lui, personne ne peut savoir que l’argent vient de vous. Le code et les boutons le contiennent déjà.',
  warn_exact:
    'Envoyez exactement ce montant : il identifie votre paiement. Les frais de réseau s’y ajoutent.',
  warn_network:
    'Envoyez uniquement des {currency} sur le réseau {network}. Tout autre envoi peut être perdu.',
  warn_direct:
    'Payez en {currency} depuis votre propre portefeuille : les paiements des plateformes d’échange et des portefeuilles à contrat intelligent peuvent ne pas être reconnus.',
  compare:
    'Avant de confirmer, comparez les extrémités en gras avec l’adresse affichée par votre portefeuille.',
  testnet: 'Réseau de test : ces pièces n’ont aucune valeur.',
  demo_rate: 'Taux de démonstration, pas un prix du marché.',

  copy: 'Copier',
  copied: 'Copié',
  selected: 'Sélectionné : copiez avec votre appareil',
  copy_what: 'Copier : {what}',
  open_wallet: 'Ouvrir dans le portefeuille',
  wallet_hint: 'Rien ne s’ouvre ? Scannez le code ou copiez les données dans votre portefeuille.',
  scan: 'Scannez le code avec votre portefeuille, puis confirmez {amount}.',
  scan_address:
    'Le code ne contient que l’adresse. Saisissez vous-même le reste : {amount} sur le réseau {network}.',
  qr_alt: 'Code QR avec toutes les données du paiement',
  qr_rest: 'Code QR pour le reste',
  qr_address: 'Code QR de l’adresse',
  cancel: 'Annuler le paiement',
  cancel_sure: 'Annulez seulement si vous n’avez rien envoyé. C’est définitif.',
  cancel_yes: 'Oui, annuler ce paiement',
  print: 'Imprimer le reçu',
  receipt: 'Reçu',
  refreshes: 'Cette page se recharge automatiquement toutes les {n} secondes.',
  offline: 'Pas de connexion. Nouvel essai…',
  blind:
    'Nous ne voyons pas le réseau {network} pour le moment. Ce que vous avez envoyé n’est pas perdu : il sera reconnu dès que nous verrons à nouveau le réseau.',
  simulate_only:
    'Simulation seulement : le réseau {network} n’est pas visible pour le moment. N’envoyez rien : ce ne serait pas remarqué à temps.',
  again: 'Commencer un nouveau paiement',

  return_to: 'Revenir chez {merchant}',
  return_soon: 'Vous allez revenir chez {merchant} dans quelques secondes.',
  stay: 'Rester sur cette page',
  explorer: 'Voir sur {host}',
  receipt_number: 'Numéro de paiement',
  receipt_from: 'Reçu de {merchant}',
  receipt_mail: '{merchant} a reçu votre paiement de {usd}.',
  item: 'Objet',
  total: 'Total',
  landing_text:
    '{name} accepte des paiements en crypto pour des boutiques. L’acheteur paie directement la boutique, de portefeuille à portefeuille : personne ne retient l’argent entre-temps.',
  landing_buyer: 'Vous voulez payer ? Ouvrez le lien que la boutique vous a donné.',
  landing_up: 'Tout fonctionne',
  landing_down: 'Certains paiements peuvent prendre plus de temps que d’habitude',
  landing_docs: 'Documentation pour les développeurs',
  landing_reference: 'Référence de l’API',
  landing_agents: 'Pour les agents et les modèles de langage',
  pay_with: 'Payer avec {wallet}',
  formerly: 'anciennement {name}',
  other_wallets: 'Autres portefeuilles',
  by_hand: 'Payer à la main',
  usual_time: 'Cela prend en général {time}.',
  time_seconds: 'quelques secondes',
  time_minute: 'environ une minute',
  time_minutes: 'environ {time}',
  time_range: '{n} à {time}',
  fee_about: 'frais d’environ {usd}',
  no_rate: 'Pas de taux de change pour le moment',
  another_way: 'Payer autrement',
  another_sent:
    'Si vous avez déjà envoyé des {currency}, ne payez pas une seconde fois : votre paiement sera reconnu.',
  another_back: 'Continuer avec {currency}',
  rest_code: 'Le code et les boutons ne demandent plus que le reste.',
  open_page: 'Ouvrir la page de paiement',
  close: 'Fermer',

  choose: 'Comment voulez-vous payer ?',
  inactive: 'Cette offre n’est pas disponible actuellement.',
  unavailable: 'Indisponible pour le moment',
  only_simulated: 'Simulation seulement',
  no_coins: 'Aucun moyen de paiement n’est disponible pour le moment. Revenez plus tard.',
  try_another: 'Vous ne pouvez pas payer avec cette monnaie pour l’instant. Choisissez-en une autre.',
  try_later: 'Une erreur s’est produite. Réessayez dans une minute.',
  not_found: 'Introuvable',
  not_found_text: 'Il n’y a rien à cette adresse. Vérifiez le lien que vous avez reçu.',

  password_title: 'Définir un nouveau mot de passe',
  password_label: 'Nouveau mot de passe',
  password_save: 'Enregistrer le mot de passe',
  password_done: 'Votre mot de passe a été modifié. Vous pouvez maintenant vous connecter.',
  password_length: 'Le mot de passe doit contenir de {min} à {max} caractères.',
  password_invalid: 'Ce lien a expiré ou a déjà été utilisé. Demandez-en un nouveau.',
  password_scripts: 'Cette page nécessite JavaScript. Activez-le, puis rechargez la page.',
  recovery_asked:
    'Quelqu’un, probablement vous, a demandé un nouveau mot de passe pour le compte {email} sur {site}.',
  recovery_valid: 'Le lien fonctionne une seule fois et reste valable {n} heures.',
  recovery_ignore: 'Si ce n’était pas vous, ignorez cet e-mail : votre mot de passe reste inchangé.',
  email_title: 'Confirmez votre adresse e-mail',
  email_text: 'Appuyez sur le bouton pour confirmer que cette adresse e-mail est la vôtre.',
  email_confirm: 'Confirmer',
  email_done: 'Votre adresse e-mail est confirmée.',
  email_asked: 'Quelqu’un, probablement vous, a indiqué {email} comme adresse d’un compte sur {site}.',
  email_ignore: 'Si ce n’était pas vous, ignorez cet e-mail : l’adresse ne sera pas utilisée.',
  test_mail_title: 'E-mail de test',
  test_mail_text:
    'Cet e-mail a été envoyé par la passerelle de paiement {site}. L’envoi d’e-mails fonctionne.',

  claim_open: 'J’ai déjà payé',
  claim_hint:
    'Nous vérifions le réseau tout de suite. Avec l’identifiant de transaction indiqué par votre portefeuille, nous retrouvons votre paiement même sans mémo.',
  claim_label: 'Identifiant de transaction (facultatif)',
  claim_check: 'Vérifier maintenant',
  claim_partial: '{amount} : montant reçu le {time}, inférieur au montant demandé.',
  claim_late: '{amount} : montant reçu le {time}, après la fin de ce paiement.',
  claim_unmatched: '{amount} : montant reçu le {time}, mais impossible de le rattacher à ce paiement.',
  claim_memo_missing: 'Le mémo manque.',
  claim_memo_other: 'Le mémo est différent.',
  claim_other_asset: 'Ce n’est pas la devise demandée.',
  claim_other_network: 'L’envoi a été fait sur un autre réseau : {network}.',
  claim_look_alike: 'C’est un autre jeton au nom semblable.',
  claim_amount_differs: 'Le montant n’est pas celui demandé.',
  claim_unclear: 'On ne sait pas à quel paiement il était destiné.',
  claim_noted:
    '{merchant} en est informé. Contactez-le en indiquant le numéro de paiement affiché sur cette page.',
  claim_nothing:
    'Rien n’est arrivé pour ce paiement jusqu’ici. Si vous l’avez envoyé, saisissez l’identifiant de transaction.',
  claim_not_found:
    'Aucune transaction de ce type n’a été trouvée pour ce paiement. Vérifiez l’identifiant dans votre portefeuille ou réessayez dans quelques minutes.',
  claim_not_an_id:
    'Ce n’est pas un identifiant de transaction. Copiez-le depuis les détails du paiement dans votre portefeuille.',
  claim_not_readable:
    'Nous ne pouvons pas vérifier le réseau pour le moment. Veuillez réessayer dans quelques minutes.',
};
