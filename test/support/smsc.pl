#!/usr/bin/perl
# An SMSC for tests, on Net::SMPP. It tells what it receives as JSON lines on its output, and takes orders as JSON lines on its
# input; test/support/smsc.ts has the other end of both. It ends with its input.
#
#   perl smsc.pl [port]
use strict;
use warnings;
use IO::Select;
use JSON::PP;
use Net::SMPP;

$| = 1;
$SIG{PIPE} = 'IGNORE';
# Net::SMPP warns of every connection that ends.
$SIG{__WARN__} = sub { };

my $json = JSON::PP->new->canonical;
my $listener = Net::SMPP->new_listen( '127.0.0.1', port => $ARGV[0] // 0 )
  or die "The SMSC cannot listen: $!\n";
my $select = IO::Select->new( $listener, \*STDIN );

my %connections;       # by file number: { socket, number, bound }
my $connection_count = 0;
my $bind_status      = 0;
my $responds  = 1;
my $is_deaf          = 0;
my $next_id          = 1 + int( rand 1_000_000 ) * 1_000;
my $submit_form      = '%d';
my $receipt_form     = '%d';
my $auto_stat;         # the state of the receipt of every submit, which waits for the order to deliver again
my @plan;              # what the next submits get; after that: taken
my %by_number;         # the same for one phone number, for ever
my @held;              # responses that wait for an order
my %unacknowledged;    # deliveries by sequence number
my $delivery_count = 0;

sub report { print $json->encode( {@_} ), "\n"; }

sub bound { return grep { $_->{bound} } sort { $a->{number} <=> $b->{number} } values %connections; }

sub drop {
    my ($connection) = @_;
    my $socket = $connection->{socket};
    return if !delete $connections{ fileno $socket };
    $select->remove($socket);
    close $socket;
    report( event => 'closed', connection => $connection->{number} );
}

sub deliver {
    my ( $fields, $connection ) = @_;
    my ($to) = $connection // ( bound() )[0];
    if ( !$to ) { report( event => 'undeliverable' ); return; }
    my $sequence = ++$delivery_count;
    $unacknowledged{$sequence} = $fields;
    $to->{socket}->deliver_sm(
        async            => 1,
        seq              => $sequence,
        source_addr      => '9647701234567',
        destination_addr => 'TEST',
        %$fields,
    );
}

# The text of a receipt as most SMSCs write it.
sub receipt_text {
    my ( $id, $stat ) = @_;
    my $dlvrd = $stat eq 'DELIVRD' ? '001' : '000';
    return "id:$id sub:001 dlvrd:$dlvrd submit date:2611231200 done date:2611231201 stat:$stat err:000 text:Your code";
}

sub receipt { return { esm_class => 4, short_message => receipt_text(@_) }; }

sub submitted {
    my ( $connection, $pdu ) = @_;
    my $id = $next_id++;
    my $own  = $by_number{ $pdu->{destination_addr} };
    push @$own, shift @$own if $own;
    my $plan = $own ? $own->[-1] : ( shift @plan // { status => 0 } );
    report(
        event               => 'submit',
        connection          => $connection->{number},
        id                  => sprintf( $receipt_form, $id ),
        source_addr_ton     => $pdu->{source_addr_ton} + 0,
        source_addr_npi     => $pdu->{source_addr_npi} + 0,
        source_addr         => "$pdu->{source_addr}",
        dest_addr_ton       => $pdu->{dest_addr_ton} + 0,
        dest_addr_npi       => $pdu->{dest_addr_npi} + 0,
        destination_addr    => "$pdu->{destination_addr}",
        esm_class           => $pdu->{esm_class} + 0,
        validity_period     => "$pdu->{validity_period}",
        registered_delivery => $pdu->{registered_delivery} + 0,
        data_coding         => $pdu->{data_coding} + 0,
        short_message       => unpack( 'H*', $pdu->{short_message} ),
    );
    my $respond = sub {
        my $socket = $connection->{socket};
        if ( $plan->{close} ) { return drop($connection); }
        if ( defined $plan->{nack} ) {
            return $socket->generic_nack( seq => $pdu->{seq}, status => $plan->{nack} );
        }
        my $stat = $plan->{receiptFirst};
        deliver( receipt( sprintf( $receipt_form, $id ), $stat ), $connection ) if $stat;
        if ( $plan->{status} ) {
            # Without a body, as SMPP has it for errors.
            return $socket->syswrite( pack 'NNNN', 16, 0x80000004, $plan->{status}, $pdu->{seq} );
        }
        $socket->submit_sm_resp(
            seq        => $pdu->{seq},
            message_id => $plan->{id} // sprintf( $submit_form, $id ),
        );
        $unacknowledged{ ++$delivery_count } = receipt( sprintf( $receipt_form, $id ), $auto_stat ) if $auto_stat;
    };
    return if $plan->{silent};
    if   ( $plan->{hold} ) { push @held, $respond; }
    else                   { $respond->(); }
}

sub received {
    my ($connection) = @_;
    my $socket = $connection->{socket};
    my $pdu = $socket->read_pdu;
    return drop($connection) if !$pdu;
    my $command = $pdu->{cmd};
    my $seq     = $pdu->{seq};
    if ( $command == Net::SMPP::CMD_bind_transceiver ) {
        report(
            event             => 'bind',
            connection        => $connection->{number},
            system_id         => "$pdu->{system_id}",
            password          => "$pdu->{password}",
            system_type       => "$pdu->{system_type}",
            interface_version => $pdu->{interface_version} + 0,
        );
        return if $bind_status < 0;
        if ($bind_status) { return $socket->syswrite( pack 'NNNN', 16, 0x80000009, $bind_status, $seq ); }
        $connection->{bound} = 1;
        $socket->bind_transceiver_resp( seq => $seq, system_id => 'TEST' );
    }
    elsif ( $command == Net::SMPP::CMD_submit_sm ) { submitted( $connection, $pdu ); }
    elsif ( $command == Net::SMPP::CMD_enquire_link ) {
        report( event => 'enquire_link', connection => $connection->{number} );
        $socket->enquire_link_resp( seq => $seq ) if $responds;
    }
    elsif ( $command == Net::SMPP::CMD_unbind ) {
        $connection->{bound} = 0;
        report( event => 'unbind', connection => $connection->{number} );
        $socket->unbind_resp( seq => $seq ) if $responds;
    }
    elsif ( $command == Net::SMPP::CMD_deliver_sm_resp ) {
        delete $unacknowledged{$seq} if $pdu->{status} == 0;
        report( event => 'deliver_sm_resp', sequence => $seq + 0, status => $pdu->{status} + 0 );
    }
    else { report( event => 'other', command => $command + 0, sequence => $seq + 0, status => $pdu->{status} + 0 ); }
}

sub of_order {
    my ( $order, @connections ) = @_;
    my $number = $order->{connection} or return @connections;
    return grep { $_->{number} == $number } @connections;
}

my %orders = (
    bind         => sub { $bind_status     = $_[0]{status} },
    enquiries    => sub { $responds = $_[0]{responds} ? 1 : 0 },
    deaf         => sub { $is_deaf         = $_[0]{on} ? 1 : 0 },
    number       => sub { $by_number{ $_[0]{number_called} } = $_[0]{submits} },
    plan         => sub { push @plan, @{ $_[0]{submits} } },
    ids          => sub { ( $submit_form, $receipt_form ) = @{ $_[0] }{qw(submit receipt)} },
    receipts     => sub { $auto_stat = $_[0]{stat} },
    release      => sub { my @now = splice @held; $_->() for @now },
    deliver      => sub { deliver( { %{ $_[0]{fields} }, short_message => pack( 'H*', $_[0]{octets} ) } ) },
    receipt      => sub { deliver( receipt( @{ $_[0] }{qw(id stat)} ) ) },
    redeliver    => sub {
        my @again = bound() ? map { delete $unacknowledged{$_} } sort { $a <=> $b } keys %unacknowledged : ();
        report( event => 'redelivering', sequences => [ map { $delivery_count + $_ } 1 .. @again ] );
        deliver($_) for @again;
    },
    raw          => sub { $_->{socket}->syswrite( pack 'H*', $_[0]{octets} ) for bound() },
    unbind       => sub { $_->{socket}->unbind( async => 1, seq => 77 ) for of_order( $_[0], bound() ) },
    enquire_link => sub { $_->{socket}->enquire_link( async => 1, seq => 78 ) for bound() },
    sync         => sub {
        while ( my ($ready) = grep { $connections{ fileno($_) // -1 } } $select->can_read(0) ) {
            received( $connections{ fileno $ready } );
        }
    },
    close        => sub { drop($_) for of_order( $_[0], values %connections ) },
);

my $input = '';
report( event => 'listening', port => $listener->sockport + 0 );
while (1) {
    for my $ready ( $select->can_read ) {
        if ( $ready == $listener ) {
            my $socket = $listener->accept or next;
            $connections{ fileno $socket } = { socket => $socket, number => ++$connection_count, bound => 0 };
            $select->add($socket) if !$is_deaf;
        }
        elsif ( $ready == \*STDIN ) {
            exit 0 if !sysread STDIN, $input, 65_536, length $input;
            while ( $input =~ s/\A([^\n]*)\n// ) {
                my $order = $json->decode($1);
                $orders{ $order->{order} }->($order);
                for my $connection ( values %connections ) {
                    if   ($is_deaf) { $select->remove( $connection->{socket} ) }
                    else            { $select->add( $connection->{socket} ) }
                }
                report( event => 'done', number => $order->{number} + 0 );
            }
        }
        elsif ( my $connection = $connections{ fileno($ready) // -1 } ) { received($connection); }
    }
}
