package com.lsqlrunner.bench.flink;

import java.util.Set;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericRecord;
import org.apache.flink.api.common.serialization.DeserializationSchema;
import org.apache.flink.api.common.serialization.SerializationSchema;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.formats.avro.AvroRowDataDeserializationSchema;
import org.apache.flink.formats.avro.AvroRowDataSerializationSchema;
import org.apache.flink.formats.avro.AvroToRowDataConverters;
import org.apache.flink.formats.avro.RegistryAvroDeserializationSchema;
import org.apache.flink.formats.avro.RegistryAvroSerializationSchema;
import org.apache.flink.formats.avro.RowDataToAvroConverters;
import org.apache.flink.formats.avro.SchemaCoder;
import org.apache.flink.formats.avro.typeutils.AvroSchemaConverter;
import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.table.connector.Projection;
import org.apache.flink.table.connector.format.DecodingFormat;
import org.apache.flink.table.connector.format.EncodingFormat;
import org.apache.flink.table.connector.format.ProjectableDecodingFormat;
import org.apache.flink.table.connector.sink.DynamicTableSink;
import org.apache.flink.table.connector.source.DynamicTableSource;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.factories.DeserializationFormatFactory;
import org.apache.flink.table.factories.DynamicTableFactory;
import org.apache.flink.table.factories.SerializationFormatFactory;
import org.apache.flink.table.types.DataType;
import org.apache.flink.table.types.logical.RowType;

/**
 * The format {@code bench-avro}: what Flink's {@code avro-confluent} does, with {@link Registry} in place of Confluent's
 * client, which is not on Maven Central. The classes that read and write AVRO are Flink's.
 */
public final class AvroFormat implements DeserializationFormatFactory, SerializationFormatFactory {
    private static final ConfigOption<String> URL =
            ConfigOptions.key("url").stringType().noDefaultValue();
    private static final ConfigOption<Integer> SCHEMA_ID =
            ConfigOptions.key("schema-id").intType().defaultValue(0);

    @Override
    public String factoryIdentifier() {
        return "bench-avro";
    }

    @Override
    public Set<ConfigOption<?>> requiredOptions() {
        return Set.of(URL);
    }

    @Override
    public Set<ConfigOption<?>> optionalOptions() {
        return Set.of(SCHEMA_ID);
    }

    @Override
    public DecodingFormat<DeserializationSchema<RowData>> createDecodingFormat(
            DynamicTableFactory.Context context, ReadableConfig options) {
        return new Decoding(new Registry(options.get(URL), 0));
    }

    @Override
    public EncodingFormat<SerializationSchema<RowData>> createEncodingFormat(
            DynamicTableFactory.Context context, ReadableConfig options) {
        return new Encoding(new Registry(options.get(URL), options.get(SCHEMA_ID)));
    }

    private record Decoding(SchemaCoder.SchemaCoderProvider registry)
            implements ProjectableDecodingFormat<DeserializationSchema<RowData>> {
        @Override
        public DeserializationSchema<RowData> createRuntimeDecoder(
                DynamicTableSource.Context context, DataType columns, int[][] projections) {
            DataType read = Projection.of(projections).project(columns);
            RowType row = (RowType) read.getLogicalType();
            Schema schema = AvroSchemaConverter.convertToSchema(row);
            return new AvroRowDataDeserializationSchema(
                    new RegistryAvroDeserializationSchema<>(GenericRecord.class, schema, registry),
                    AvroToRowDataConverters.createRowConverter(row),
                    context.createTypeInformation(read));
        }

        @Override
        public ChangelogMode getChangelogMode() {
            return ChangelogMode.insertOnly();
        }
    }

    private record Encoding(SchemaCoder.SchemaCoderProvider registry)
            implements EncodingFormat<SerializationSchema<RowData>> {
        @Override
        public SerializationSchema<RowData> createRuntimeEncoder(DynamicTableSink.Context context, DataType columns) {
            RowType row = (RowType) columns.getLogicalType();
            Schema schema = AvroSchemaConverter.convertToSchema(row);
            return new AvroRowDataSerializationSchema(
                    row,
                    new RegistryAvroSerializationSchema<>(GenericRecord.class, schema, registry),
                    RowDataToAvroConverters.createConverter(row));
        }

        @Override
        public ChangelogMode getChangelogMode() {
            return ChangelogMode.insertOnly();
        }
    }
}
